/* SPDX-License-Identifier: GPL-2.0 */
/* One row: what the program says that the expression is there. */
#ifndef PRINT_H
#define PRINT_H

#include <stdio.h>

#define P(e)	printf("%s:%d %ld\n", __FILE__, __LINE__, (long)(e))
#define NI	__attribute__((noinline))
#define INL	inline __attribute__((always_inline))

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What was compiled, for people: where each tracepoint is, what a hit
 * costs there, where each datum comes from. */
#ifndef TRCUST_EXPLAIN_H
#define TRCUST_EXPLAIN_H

#include <stdio.h>
#include "trcust/compile/compile.h"

void explain_points(const struct compilation *c, const struct compiled *done,
		    FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Operations as text, in the notation of the kernel's verifier. */
#ifndef BPF_CODE_CODE_PRINT_H
#define BPF_CODE_CODE_PRINT_H

#include <stdio.h>
#include "code.h"

/* "t3 = *(u64 *)(r6 +112)"; `placed`: what is in slots is at r10. */
void code_op_print(const struct code_op *op, bool placed, char *text,
		   size_t size);
/* All of it, path by path */
void code_print(const struct code *c, FILE *out);

#endif

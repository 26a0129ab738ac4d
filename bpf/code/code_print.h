/* SPDX-License-Identifier: GPL-2.0 */
/* Operations as text, in the notation of the kernel's verifier. */
#ifndef BPF_CODE_CODE_PRINT_H
#define BPF_CODE_CODE_PRINT_H

#include <stdio.h>
#include "code.h"

/* "bpf_map_lookup_elem", by number */
extern const char *const code_helpers[__BPF_FUNC_MAX_ID];
/* "+=", "s>", by the upper four bits of the operation; NULL: there is none */
extern const char *const code_alu_ops[16], *const code_jump_ops[16];

/* "t3 = *(u64 *)(r6 +112)"; `placed`: what is in slots is at r10. */
void code_op_print(const struct code_op *op, bool placed, char *text,
		   size_t size);
/* All of it, path by path */
void code_print(const struct code *c, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The BTF that bodies with subprograms are loaded with. */
#ifndef BPF_TYPES_H
#define BPF_TYPES_H

#include "body.h"

/*
 * A body with subprograms is loaded with func_info, of the BTF that is here:
 * functions[] is filled, their number returned; 0: it needs none.
 */
#define BODY_FUNCTIONS	(1 + BODY_SUBPROGRAMS)
size_t body_functions(const __u32 *subprograms,
		      struct bpf_func_info *functions);
const void *body_types(size_t *size);

#endif

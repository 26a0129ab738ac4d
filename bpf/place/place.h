/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where things go: the operations of code.h in their final order, with registers
 * 0 to 9 and offsets in the frame.
 *
 * Per function the straight line comes first, then its rare paths. What no way
 * leads to and results that nothing uses are gone. A temp that is kept across
 * calls is in one of the registers 6 to 9 when none of its user's is there
 * meanwhile, or in the frame; pieces of the frame that are not in use at the same
 * time share their place.
 */
#ifndef BPF_PLACE_PLACE_H
#define BPF_PLACE_PLACE_H

#include "bpf/code/code.h"

/*
 * Operations are as in struct code, but:
 *	slots: `off` is the offset from register 10, `target` nothing
 *	jumps: `target` is an index of ops
 *	CODE_CALL_LABEL, CODE_CALLBACK: `target` is an index of functions
 *	there are no CODE_LABEL
 */
struct placed_function {
	int kind;		/* of struct code_func */
	uint32_t first;		/* of its operations */
	uint32_t frame;		/* bytes */
};

struct placed {
	struct code_op *ops;
	size_t count;
	struct placed_function *functions;	/* 0: the program */
	size_t function_count;
};

/*
 * 0, or a negative errno: -EINVAL when the code makes no sense (a temp that is
 * read before it has a value, a path without an end), -E2BIG when the frame or
 * the registers do not suffice. The caller frees with placed_free().
 */
int place_code(struct placed *placed, const struct code *code);
void placed_free(struct placed *placed);

#endif

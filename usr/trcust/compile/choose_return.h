/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RETEP that leaves the choice to us: the kernel's return probe instead of a
 * probe at each exit, where it has the same values, costs less, and can't harm
 * the program.
 */
#ifndef TRCUST_CHOOSE_RETURN_H
#define TRCUST_CHOOSE_RETURN_H

#include "compile.h"
#include "../module/block.h"

/*
 * All sites of the tracepoint are compiled; stmts and rpn are the sizes of
 * c->stmts and c->rpn before. Where a return probe serves better, the
 * tracepoint has it as its only site afterwards. 0, -1.
 */
int choose_return(struct compilation *c, struct compile_point *point,
		  size_t stmts, size_t rpn);

/*
 * choose_return_safe.c: may a return probe stand in the function that begins
 * at entry and whose code is in flow? *why: why not; NULL: it may. 0 or
 * -ENOMEM.
 */
int choose_return_safe(struct compilation *c, uint64_t entry,
		       const struct flow *flow, const char **why);
/*
 * ... may an exception, or the end of a thread, leave the function? By what it
 * calls, in a module that has such things. 0 or -ENOMEM.
 */
int choose_return_unwinds(struct compilation *c, uint64_t entry, bool *may);

#endif

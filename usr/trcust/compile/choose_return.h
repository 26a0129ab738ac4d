/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RETEP that leaves the choice to us: with --site=fast the kernel's return probe
 * instead of a probe at each exit, where it has the same values, costs less, and
 * nothing in the module shows that it would harm the program. What the
 * program's other modules do with the stack isn't known: with --site=safe a
 * return point is never a return probe.
 */
#ifndef TRCUST_CHOOSE_RETURN_H
#define TRCUST_CHOOSE_RETURN_H

#include "compile.h"
#include "lib/debug/module/module.h"

/*
 * All sites of the tracepoint are compiled; stmts and rpn are the sizes of
 * c->stmts and c->rpn before. Where a return probe is taken, the tracepoint has
 * it as its only site afterwards; else point->no_return says why not. 0, -1.
 */
int choose_return(struct compilation *c, struct compile_point *point,
		  size_t stmts, size_t rpn);

/*
 * choose_return_safe.c: does nothing in the module show that a return probe
 * would harm the program, in the function that begins at entry and whose code is
 * in flow? *why: what does; NULL: nothing. 0 or -ENOMEM.
 */
int choose_return_safe(struct compilation *c, uint64_t entry,
		       const struct flow *flow, const char **why);
/*
 * ... may an exception, or the end of a thread, leave the function? By what it
 * calls, in a module that has such things. 0 or -ENOMEM.
 */
int choose_return_unwinds(struct compilation *c, uint64_t entry, bool *may);

#endif

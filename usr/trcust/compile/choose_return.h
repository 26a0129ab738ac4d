/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RETEP without EXIT or CALLER: with --site=fast the kernel's return probe
 * instead of a probe at each exit, where it has the same values, is faster, and
 * nothing in the module shows that it would harm the program. What the
 * program's other modules do with the stack isn't known: with --site=safe a
 * return point is never a return probe.
 */
#ifndef TRCUST_CHOOSE_RETURN_H
#define TRCUST_CHOOSE_RETURN_H

#include "compile.h"

/* What lasts from one tracepoint to the next. */
struct choose_return_state {
	const bool *lost;	/* by point of the TSF: it will be discarded;
				 * NULL: not known */
	size_t open_returns;	/* return probes so far in functions that call
				 * others */
};

/*
 * All sites of the tracepoint are compiled; stmts and rpn are the sizes of
 * out->stmts and out->rpn before. Where a return probe is taken, the tracepoint
 * has it as its only site afterwards; else point->no_return is the reason. 0,
 * -1.
 */
int choose_return(const struct compilation *c, struct compiled *out,
		  struct choose_return_state *state,
		  struct compile_point *point, size_t stmts, size_t rpn);

#endif

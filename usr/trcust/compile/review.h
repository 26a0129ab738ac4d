/* SPDX-License-Identifier: GPL-2.0 */
/* What is found out about tracepoints once they are compiled, and warned of. */
#ifndef TRCUST_REVIEW_H
#define TRCUST_REVIEW_H

#include "compile.h"

/* Inlined copies of the function that a tracepoint is in (DWARF 5 section
 * 3.3.8.2). The tracepoint has no site there. */
struct inlined {
	struct dwarf_functions found;	/* all of the name */
	const struct dwarf_function *own;	/* that has the sites; or NULL:
						 * they are in copies */
	size_t count;			/* of copies of `own` */
};

/* TP=.name only, others have none. The caller frees what was found. 0,
 * -ENOMEM. */
int inlined_find(const struct compilation *c, const struct compile_point *point,
		 struct inlined *inlined);
bool inlined_is_copy(const struct inlined *inlined,
		     const struct dwarf_function *function);
/* Warn of tracepoints whose function nothing calls any more: all calls have
 * become copies. 0, -ENOMEM. */
int inlined_check(const struct compilation *c, const struct compiled *out);

/* The pass that warns of probes that stay on a slow instruction, or on a nop
 * that may do harm: why, and what would help. */
void slow_report(const struct compilation *c, const struct compiled *out);

#endif

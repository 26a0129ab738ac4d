/* SPDX-License-Identifier: GPL-2.0 */
/*
 * --diff: what is kept of a trace's calls, and how that of two traces differs.
 * Functions are the same if their names are; a thread is the same as the other
 * trace's if its process has the same name, and as many threads of that name
 * began before it. Calls are compared in the order of their beginnings.
 */
#ifndef TRACEFMT_DIFF_H
#define TRACEFMT_DIFF_H

#include "output.h"

#define DIFF_CALLS	2000000	/* of more, the order isn't compared */

/* Writes nothing: its `own` is kept. */
extern const struct output_ops output_diff;

/* Append how the calls of two outputs differ. 0 or -ENOMEM. */
int diff_compare(const struct output *old, const struct output *new,
		   struct text *text);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Figures of the events that were given out, by process, major or minor:
 *
 *	Chosen: 250 of 1000 events, 12.5 a second, from 18:07:30.000000000 ...
 *
 *	Major  Minor      Events    A second        Peak        Lost  Firs ...
 *	  197      1         125         6.3          40           0  18:0 ...
 *
 * A second: of the time from the first of all these events to the last; Peak:
 * the most in one second of the clock; Lost: overwritten or dropped, of the
 * whole trace.
 */
#ifndef TRACEFMT_SELECTED_H
#define TRACEFMT_SELECTED_H

#include <stdio.h>
#include "output.h"
#include "summary.h"

#define SELECTED_ROWS	65536	/* more of them are counted as one */

struct selected;

/* SUMMARY_ALL: as SUMMARY_MINOR. NULL: no memory. */
struct selected *selected_open(enum summary_by by, const struct stream *stream);
void selected_close(struct selected *selected);
/* One more event; 0 or -ENOMEM. */
int selected_add(struct selected *selected, const struct event *event);
/* The traces are not read any further: what they lost isn't known. */
void selected_stop(struct selected *selected);
/* Print what the traces are, and these figures. */
void selected_print(FILE *out, struct selected *selected, struct clock *clock);

#endif

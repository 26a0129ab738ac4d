/* SPDX-License-Identifier: GPL-2.0 */
/* What the traces hold, what they lost, and from when on they are complete; and
 * the events given out, by process, major or minor. */
#ifndef TRACEFMT_SUMMARY_H
#define TRACEFMT_SUMMARY_H

#include <stdio.h>
#include "output.h"

enum summary_by {
	SUMMARY_ALL,		/* of the whole trace, as its counters have it */
	SUMMARY_PID, SUMMARY_MAJOR, SUMMARY_MINOR,
	SUMMARY_KINDS,
};

#define SUMMARY_NAMES	"pid, major, minor"

/* SUMMARY_ALL without a name; SUMMARY_KINDS: no such name. */
enum summary_by summary_by_name(const char *name);
/* After the last record was read. 0 or -ENOMEM. */
int summary_print(FILE *out, const struct stream *stream, struct clock *clock);

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

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
/* What a trace is; if it was read to its end also how many records it has, and
 * from when on it is complete. */
void summary_head(FILE *out, const struct trace *trace, bool whole,
		  struct clock *clock);

/* Of a minor, or (-1) of all of a major, in all traces: records that were
 * overwritten, and hits that were dropped. */
struct summary_lost {
	uint64_t records;
	bool known;
};

struct summary_lost summary_lost(const struct stream *stream,
				 unsigned int major, int minor);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* How far it is, on standard error, when that is a terminal on which the output
 * doesn't go. */
#ifndef TRACEFMT_PROGRESS_H
#define TRACEFMT_PROGRESS_H

#include "lib/read/read.h"

#define PROGRESS_EVERY	0x4000	/* events, a power of two: worth a look at the
				 * clock */

struct show_progress {
	bool shown;
	bool begun;		/* a line is on the terminal */
	uint64_t next;		/* time of the next line */
	uint64_t bytes;		/* of all records; 0: not known, a pipe */
	uint64_t done;		/* of these */
};

/* The beginnings have been read. */
void progress_open(struct show_progress *progress, const struct stream *stream);
void progress_print(struct show_progress *progress,
		    const struct stream *stream);
void progress_close(struct show_progress *progress);

static inline void progress_count(struct show_progress *progress,
				  const struct stream *stream,
				  const struct event *event)
{
	if (!progress->shown)
		return;
	progress->done += ((uint64_t)event->record->length + 7) & ~7ULL;
	if (!(event->number & (PROGRESS_EVERY - 1)))
		progress_print(progress, stream);
}

#endif

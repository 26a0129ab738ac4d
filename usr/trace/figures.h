/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happened at each tracepoint. `recorded` and `overwritten` are seen in
 * the buffer by the records' sequence numbers, and checked against the
 * counters.
 */
#ifndef TRACE_FIGURES_H
#define TRACE_FIGURES_H

#include "../lib/buffer.h"
#include "../lib/session.h"

struct figure {
	uint64_t recorded, present, overwritten;
	uint64_t filtered, dropped, faults;
	uint64_t missed;	/* RAS_MISSED_UNKNOWN */
};

struct figures {
	struct figure **sessions;	/* [session of the list][point]; NULL:
					 * its counters are gone */
	size_t count;
	uint64_t records;	/* in the buffer now */
	uint64_t bytes;		/* of these */
	uint64_t dropped;	/* hits that found all slices busy */
	uint64_t damaged;	/* bytes that are no record, and records that
				 * don't fit the counters */
};

/* 0, or a negative errno with err set. */
int figures_read(struct figures *figures, const struct buffer *buffer,
		 const struct session_list *list, struct error *err);
void figures_free(struct figures *figures);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happened at each tracepoint. `recorded` and `overwritten` are seen in
 * the buffer by the records' sequence numbers, and checked against the
 * counters.
 */
#ifndef TRACE_FIGURES_H
#define TRACE_FIGURES_H

#include <stdint.h>
#include "lib/buffer/buffer.h"
#include "lib/buffer/session.h"

struct figure {
	uint64_t recorded, present, overwritten;
	uint64_t cleared;	/* of `overwritten`: those that `trace clear`
				 * discarded, as far as that is known */
	uint64_t dropped;
	uint64_t missed;	/* RAS_MISSED_UNKNOWN */
	struct ras_why why;
};

struct query_figures {
	struct figure **sessions;	/* [session of the list][point]; NULL:
					 * its counters are gone */
	size_t count;
	uint64_t records;	/* in the buffer now */
	uint64_t bytes;		/* of these */
	uint64_t dropped;	/* hits that found all slices busy */
	uint64_t damaged;	/* bytes that are no record, and records that
				 * don't fit the counters */
	uint64_t complete;	/* CLOCK_BOOTTIME, ns: nothing recorded since then
				 * has been overwritten; 0: nothing ever, since it
				 * was cleared */
	bool cleared;		/* some of the records ever made were */
	uint64_t wanted;	/* data bytes of a CPU's slice with which nothing
				 * would have been; 0: no size is enough */
	uint64_t rate;		/* of the busiest CPU, as far as its records
				 * reach back; bytes per second */
};

uint64_t figure_filtered(const struct figure *figure);
uint64_t figure_faults(const struct figure *figure);
uint64_t figure_hits(const struct figure *figure);

/* sum += figure; what is unknown stays so. */
void figure_add(struct figure *sum, const struct figure *figure);

/* 0, or a negative errno with err set. */
int query_figures_read(struct query_figures *figures,
		       const struct buffer *buffer,
		       const struct session_list *list, struct error *err);
void query_figures_free(struct query_figures *figures);

/* How much of the kernel's memory the pinned maps take. */

/* Bytes, as the kernel reports them; what can't be opened counts as 0. */
uint64_t footprint_read_buffer(const char *run);
uint64_t footprint_read_session(const struct session *session);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What `trace query` prints, from one reading of buffer and sessions. */
#ifndef TRACE_QUERY_READ_H
#define TRACE_QUERY_READ_H

#include "lib/aggregate.h"
#include "lib/arm/arm.h"
#include "lib/buffer/stack_table.h"

/*
 * What happened at each tracepoint. `recorded` and `overwritten` are seen in
 * the buffer by the records' sequence numbers, and checked against the
 * counters.
 */

struct figure {
	uint64_t recorded, present, overwritten;
	uint64_t cleared;	/* of `overwritten`: those that `trace clear`
				 * discarded, as far as that is known */
	uint64_t dropped;
	uint64_t aggregated;	/* hits that made no record: the point has
				 * aggregates and no data */
	uint64_t lost;		/* additions for which there was no room */
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

/* 0, or a negative errno with err set. */
int query_figures_read(struct query_figures *figures,
		       const struct buffer *buffer,
		       const struct session_list *list, struct error *err);
void query_figures_free(struct query_figures *figures);

/* The file that was armed, at its path. */
enum query_file {
	QUERY_FILE_SAME,
	QUERY_FILE_REPLACED,	/* another one is there now */
	QUERY_FILE_GONE,
	QUERY_FILE_CHANGED,	/* it was written to */
	QUERY_FILE_UNKNOWN,	/* the kernel, or its path isn't known */
};

struct query_session {
	bool shown;		/* one of its points is */
	struct figure sum;	/* over its points */
	enum query_file file;
	uint64_t memory;	/* that its maps take */
	struct aggregates aggregates;	/* no tables: it has none */
	struct stack_table_figures stacks;	/* no room: it has no table */
};

struct query {
	const struct buffer *buffer;	/* NULL: there is none */
	struct buffer opened;		/* which that is */
	struct session_list list;
	struct query_figures figures;
	/* as many as there are sessions in the list: */
	struct query_session *sessions;
	struct tdf **tdfs;	/* NULL: the file is gone or has been compiled
				 * anew */
	bool **chosen;		/* per point: to be shown */
	bool restricted;	/* to what operands name */
	struct ras_trigger trigger;
	struct keep_state keep;
	struct kmod kmod;
	uint64_t memory;	/* that all maps take */
	struct hit_cost cost;	/* as query_cost_find() fills it in */
	uint64_t time;		/* CLOCK_BOOTTIME, ns */
};

/*
 * Read everything; operands restrict it to tracepoints. 0, or a negative errno
 * with err set: -ENOENT when there is no buffer or nothing is meant by an
 * operand.
 */
int query_read(struct query *query, int count, char **operands,
	       struct error *err);
void query_free(struct query *query);

/* Is this point to be listed? */
bool query_point_shown(const struct query *query, size_t session,
		       uint32_t point);
/* Has it a figure that is to be reported? */
bool query_point_hit(const struct query *query, size_t session, uint32_t point);
/* The clause of its TP; "" when the TDF is gone. */
const char *query_point_name(const struct query *query, size_t session,
			     uint32_t point);

/* Print "  without a hit: 3, 5-9", of one session; nothing when all were hit. */
void query_print_without_hit(const struct query *query, size_t session);

/* "on", "suspended", "off", or why the point has ended. */
const char *query_point_state(const struct session *session, uint32_t point);
const char *query_state_name(const struct session *session);
const char *query_mode_name(const struct ras_session *entry);
const char *query_preempt_name(const struct ras_session *entry);
/* How it reads memory of processes, "direct" or "helper", and *why not directly;
 * NULL: it doesn't, and there is no reason. */
const char *query_reads_name(const struct ras_session *entry, const char **why);

/* The keeper has just measured what the programs take (used_cpu). */
bool query_cpu_known(const struct query *query);

/* The session that the trigger's record belongs to; NULL: none. */
const struct session *query_trigger_session(const struct query *query);

#endif

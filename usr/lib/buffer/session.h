/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sessions of a live buffer: every TDF that was armed since the buffer
 * was made, with what is pinned of it and what it counted.
 */
#ifndef LIB_SESSION_H
#define LIB_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "buffer.h"

struct session {
	const struct ras_session *entry;	/* in the list's copy of the log */
	const struct ras_session_point *points;
	bool armed;		/* else it is off */
	uint32_t state;		/* RAS_STATE_*, while armed */
	char name[NAME_MAX + 1];	/* of its directory, while armed */
	char dir[PATH_MAX];	/* where its maps are pinned; "" nowhere */
	int device_fd;		/* the buffer's, when they are mapped from it;
				 * else -1 */
};

struct session_list {
	struct session *items;	/* in the order of arming */
	size_t count;
	void *log;		/* copy of the session log */
	size_t log_size;
	struct ras_session *statics;	/* the made-up entry of static tracepoints */
};

/*
 * 0, or a negative errno with err set. Entries of the log that can't be are
 * the end of it. When static tracepoints are on, or were, the last one is
 * for them: index RAS_STATIC_SESSION, majors as its points' minors, those that
 * aren't on RAS_POINT_UNSELECTED. From the kernel module's device there is the
 * log, and what belongs to the static tracepoints; where pins can't be looked
 * at a session that isn't over counts as on.
 */
int session_list_read(struct session_list *list, const struct buffer *buffer,
		      const char *run, struct error *err);
void session_list_free(struct session_list *list);

/*
 * Open one of its maps, an array, or `aggregates`, whose keys have so many bytes
 * and which has room for so many. A descriptor, or a negative errno with err set:
 * -ENOENT when it has none, or it is gone.
 */
struct bpf_map_info;
int session_map_open(const struct session *session, const char *name,
		     struct bpf_map_info *info, struct error *err);
int session_aggregates_open(const struct session *session, uint32_t *key_bytes,
			    uint32_t *entries, struct error *err);

/*
 * Copy the session's count map: rows[point * slices + slice]. The caller
 * frees. 0, or a negative errno with err set: -ENOENT when it is gone.
 */
int session_counts_read(const struct session *session, uint32_t slices,
			struct ras_count **rows, struct error *err);

/* Add a row to a sum: all of it is counters of 64 bits. */
static inline void session_why_add(struct ras_why *total,
				   const struct ras_why *row)
{
	const uint64_t *from = (const uint64_t *)row;
	uint64_t *to = (uint64_t *)total;

	for (size_t i = 0; i < sizeof(*row) / sizeof(*from); i++)
		to[i] += from[i];
}

/* Entries of whole calls that were neither recorded, filtered nor dropped */
static inline uint64_t session_why_open(const struct ras_why *why)
{
	return why->never_returned + why->open;
}

/* Whole calls that have not returned: open[point]; nothing while it is off. */
void session_open_read(const struct session *session, uint64_t *open);

/* The rows of its `why` map, a row per point: summed over the CPUs. While it is
 * armed, with the calls that have not returned. */
int session_why_read(const struct session *session, uint32_t cpus,
		     struct ras_why **totals, struct error *err);

/* The same of `aggregated`; -ENOENT where no point has aggregates. */
int session_aggregated_read(const struct session *session, uint32_t cpus,
			    struct ras_aggregated **totals, struct error *err);

/* One value per point into missed[]: hits the kernel didn't deliver, or
 * RAS_MISSED_UNKNOWN (rastrace/rasfile.h). */
void session_missed_read(const struct session *session, uint64_t *missed);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What an output makes once for each tracepoint. Each thread remembers those that
 * it met last, so that the table is locked for few events. */
#ifndef TRACEFMT_PER_POINT_H
#define TRACEFMT_PER_POINT_H

#include <pthread.h>
#include "lib/key_map.h"
#include "lib/read/read.h"

struct per_point {
	pthread_mutex_t lock;
	struct key_map made;		/* by point; locked */
	/* The thing for the event's point; NULL: no memory. */
	void *(*make)(void *own, const struct event *event);
	void *own;
};

#define PER_POINT_MET	16

/* A thread's own, zeroed at first. */
struct per_point_met {
	const struct match_point *points[PER_POINT_MET];
	void *made[PER_POINT_MET];
};

/* NULL: no memory. */
void *per_point_make(struct per_point *per, const struct event *event);

static inline void *per_point_get(struct per_point *per,
				  struct per_point_met *met,
				  const struct event *event)
{
	size_t slot = ((uintptr_t)event->point >> 6) % PER_POINT_MET;

	if (met->points[slot] != event->point) {
		met->made[slot] = per_point_make(per, event);
		met->points[slot] = event->point;
	}
	return met->made[slot];
}

/* All of them, for free(): zero *at first. */
static inline void *per_point_next(const struct per_point *per, size_t *at)
{
	return key_map_next(&per->made, at);
}

/* 0, or a negative errno. */
int per_point_open(struct per_point *per,
		   void *(*make)(void *own, const struct event *event),
		   void *own);
void per_point_close(struct per_point *per);

#endif

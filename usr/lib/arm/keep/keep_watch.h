/* SPDX-License-Identifier: GPL-2.0 */
/* What the keeper knows of an armed session, and follows. */
#ifndef TRACE_KEEP_WATCH_H
#define TRACE_KEEP_WATCH_H

#include "lib/buffer/session.h"
#include "lib/arm/probe/hit_cost.h"

#define WATCH_TICKS	4	/* in a second */

struct watch_program {
	uint32_t id;
	int fd;
	uint64_t ns, runs;	/* in it, when last looked at */
	uint32_t cost;		/* ns of a run */
};

struct watch_point {
	uint32_t maxhits;	/* 0: none */
	uint32_t trap;		/* ns of a hit beside the program's */
	uint32_t program;	/* index; of several, the last */
	uint64_t hits[WATCH_TICKS];	/* counted till the last ticks */
	uint64_t used;		/* ns in the last second */
};

struct watch {
	uint16_t session;
	bool seen;		/* in this tick */
	bool timed;		/* programs and traps are known */
	bool maxhits;		/* some point has one, or that isn't known */
	unsigned int ticks;
	uint32_t points;
	struct watch_point *items;
	struct watch_program *programs;
	size_t program_count;
};

/* 0 or -ENOMEM. */
int watch_open(struct watch *watch, const struct session *session);
void watch_close(struct watch *watch);

/* Is there an armed point that will have its MAXHITS? */
bool watch_has_maxhits(const struct watch *watch,
		       const struct session *session);
/* off[i] becomes true for those that have it; how many. */
uint32_t watch_maxhits_reached(const struct watch *watch,
			       const struct session *session, uint32_t cpus,
			       bool *off);

/* From now on watch_tick() computes times. */
void watch_time(struct watch *watch, const struct session *session,
		const struct hit_cost *trap);
/* Call it before and after (`end`) some time in which the kernel measures its
 * programs. */
void watch_programs_time(struct watch *watch, bool end);
/* Count the hits; items[].used is what they took. Returns the sum. */
uint64_t watch_tick(struct watch *watch, const struct session *session,
		    const struct buffer *buffer);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Arming: tracepoints of a TDF become a session of the buffer, all or none. */
#ifndef TRACE_ARM_H
#define TRACE_ARM_H

#include "lib/arm/keep/keep_task.h"
#include "lib/arm/pinned/run_dir.h"
#include "lib/arm/probe/hit_cost.h"
#include "lib/arm/probe/target.h"
#include "lib/arm/select/settings.h"
#include "lib/buffer/buffer.h"

/* The maps of CALL and RELEASE points (rastrace/buffer.h). */

/* No maps, all blocks. */
#define HEAP_MAPS_NONE	((struct body_heap){ .calls_fd = -1, .blocks_fd = -1, \
					     .owners_fd = -1, .rows_fd = -1, \
					     .segments_fd = -1, \
					     .spaces_fd = -1, .cache_fd = -1, \
					     .asks_fd = -1 })

/*
 * `calls`, and `blocks` where min_size or sample are set, unless heap has them:
 * TDFs whose functions call each other share them. 0, or a negative errno with
 * err set. The file descriptors are the caller's.
 */
int heap_maps_make(struct body_heap *heap, struct error *err);
void heap_maps_close(struct body_heap *heap);

/* What it takes; of the points that are picked. */
struct arm_cost {
	uint64_t map_bytes;	/* of the session's maps */
	uint64_t program_bytes;	/* as the kernel states them */
	unsigned int programs;
	struct hit_body *bodies;	/* per site */
};

struct arm {
	const struct run_dir *run;
	struct buffer *buffer;
	const struct features *features;
	const struct job_settings *settings;
	const struct tdf *tdf;
	const char *path;		/* absolute, of the TDF */
	const struct target *targets;
	uint32_t link_pid;		/* links are of this process; 0: of all */
	const bool *picked;		/* per point */
	const bool *triggers;		/* per point: stops the recording */
	uint64_t stop_after;		/* so many records later */
	const struct keep_tasks *tasks;	/* what the keeper does; NULL: nothing */
	const struct body_heap *heap;	/* min_size, sample and the maps for
					 * unwinding; NULL: all blocks, by frame
					 * pointers. `calls` and `blocks` are made
					 * where the TDF has CALL or RELEASE points
					 * and these are -1 (heap_maps_make()) */
	struct arm_cost *dry;		/* not NULL: only load, and report what
					 * arming would take */
};

/* 0, or a negative errno with err set and nothing armed. */
int arm_tdf(const struct arm *arm, struct error *err);

#endif

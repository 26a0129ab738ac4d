/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sums over the events: per stack, and by size. Made of events, or read from a
 * file that holds sums only (MPTL).
 */
#ifndef HEAPMON_PROFILE_H
#define HEAPMON_PROFILE_H

#include <math.h>
#include "model.h"

#define HEAP_CLASSES	4	/* small, medium, large, extra large */

/* Sums in which a block counts by heap_trace_weight(). */
struct heap_weighted {
	double allocs, alloc_bytes, frees, free_bytes, temporary;
	double peak_count, peak_bytes;
};

/* Sums by class of size, in the order in which an MPTL file has them. */
#define HEAP_SUMS	(4 * HEAP_CLASSES)

struct heap_sums {
	union {
		struct {
			uint64_t allocs[HEAP_CLASSES], alloc_bytes[HEAP_CLASSES];
			uint64_t frees[HEAP_CLASSES], free_bytes[HEAP_CLASSES];
		};
		uint64_t all[HEAP_SUMS];
	};
};

struct heap_site {
	uint32_t stack;
	struct heap_sums sums;		/* frees: of blocks that this stack had
					 * allocated */
	uint64_t temporary;
	uint64_t peak_count, peak_bytes;	/* when the whole heap was largest:
					 * heap_profile_peak() first */
	struct heap_weighted weighted;	/* of a sampled trace only: see
					 * heap_site_weighted() */
	/* of processes that run, up to now */
	struct heap_totals now;
	double weighted_now_count, weighted_now_bytes;
	uint64_t peak;			/* which one peak_* are of; an older one:
					 * nothing has changed since the newest */
};

struct heap_bounds {
	uint64_t small, medium, large;	/* a block of this size is still so */
	uint64_t bins;
};

#define HEAP_BOUNDS_DEFAULT	{ 32, 256, 2048, 1024 }	/* mpatrol's */

struct heap_profile {
	struct heap_bounds bounds;
	struct heap_site *sites;	/* in the order in which they were met */
	size_t site_count, site_room;
	uint32_t *site_at;		/* by stack: place in sites + 1; 0: none */
	size_t site_at_size, site_at_room;
	/* bins[i]: blocks of i + 1 bytes; the last: all that are larger, too */
	uint64_t *alloc_bins, *free_bins;
	uint64_t large_alloc_bytes, large_free_bytes;	/* of the last bins */
	struct heap_trace *trace;	/* whose stacks these are */
	double weighted_now, weighted_most;	/* bytes now; at the peak */
	uint64_t peak;			/* which one it was, from 1; 0: none */
};

int heap_profile_init(struct heap_profile *profile, struct heap_trace *trace,
		      const struct heap_bounds *bounds);
void heap_profile_free(struct heap_profile *profile);
/* Count a step of the model; old blocks and their frees are left out. 0 or
 * -ENOMEM. */
int heap_profile_take(struct heap_profile *profile,
		      const struct heap_step *step);
/* Bring the sites' peak_* up to date, which are exact; reading_run() does so. */
void heap_profile_peak(struct heap_profile *profile);
/* The site of a stack, made when there is none; NULL: no memory. */
struct heap_site *heap_profile_site(struct heap_profile *profile,
				    uint32_t stack);
void heap_sums_add(struct heap_sums *sums, const struct heap_sums *more);
/* Of all classes. */
uint64_t heap_classes_sum(const uint64_t figures[HEAP_CLASSES]);
/* The site's sums, weighted if the trace is a sample. */
void heap_site_weighted(const struct heap_profile *profile,
			const struct heap_site *site,
			struct heap_weighted *weighted);
unsigned int heap_profile_class(const struct heap_profile *profile,
				uint64_t size);

/* To the nearest number that there is. */
static inline uint64_t heap_rounded(double value)
{
	if (!(value > 0))
		return 0;
	return value < (double)INT64_MAX ? (uint64_t)llround(value) : INT64_MAX;
}

#endif

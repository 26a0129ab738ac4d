/* SPDX-License-Identifier: GPL-2.0 */
/* What the tables of mprof have in common. */
#ifndef HEAPMON_MPROF_PRINT_H
#define HEAPMON_MPROF_PRINT_H

#include "callsites.h"
#include "style.h"

/* Of the bins: of all blocks. */
struct mprof_totals {
	uint64_t allocs, frees, alloc_bytes, free_bytes;
};

/* The same in the unit that the tables are about, and in the other one. */
struct mprof_pair {
	uint64_t allocated, left;
	uint64_t other_allocated, other_left;
};

/* Call sites with the same callers, taken together. */
struct mprof_group {
	const struct callsite *site;	/* the first one */
	struct heap_sums sums;
};

struct mprof {
	FILE *out;
	const struct heap_profile *profile;
	struct style_mprof_options options;
	struct callsites callsites;
	uint32_t *place;	/* of a call site in the items, by index */
	struct mprof_totals totals;
	struct mprof_pair all;
	const char *unit, *other_unit;		/* "bytes" and "count"; with
						 * -c the other way round */
	int width, other_width;
	struct mprof_group *leaks, *stacks;	/* callers compared to the
						 * depth of -n, and all */
	size_t leak_count, stack_count;
};

/* 0 or -ENOMEM; mprof_free() in any case. */
int mprof_init(struct mprof *mprof, FILE *out,
	       const struct heap_profile *profile,
	       const struct style_mprof_options *options);
void mprof_free(struct mprof *mprof);

static inline const struct callsite *mprof_caller(const struct mprof *mprof,
						  const struct callsite *site)
{
	return &mprof->callsites.items[mprof->place[site->parent]];
}

/* By address or, without -a, by symbol, if there is one. */
static inline bool mprof_by_symbol(const struct mprof *mprof,
				   const struct callsite *site)
{
	return !mprof->options.addresses && site->symbol;
}

/* What a call site is compared by. */
static inline uint64_t mprof_place_key(const struct mprof *mprof,
				       const struct callsite *site)
{
	return mprof_by_symbol(mprof, site) ? UINT64_MAX - site->symbol :
					      site->address;
}

static inline bool mprof_same_place(const struct mprof *mprof,
				    const struct callsite *a,
				    const struct callsite *b)
{
	return a->address == b->address ||
	       (mprof_by_symbol(mprof, a) && a->symbol == b->symbol);
}

const uint64_t *mprof_allocated(const struct mprof *mprof,
				const struct heap_sums *sums);
const uint64_t *mprof_allocated_other(const struct mprof *mprof,
				      const struct heap_sums *sums);
/* What isn't freed, by class; returns the sum. */
uint64_t mprof_left(const struct mprof *mprof, const struct heap_sums *sums,
		    uint64_t left[HEAP_CLASSES]);
uint64_t mprof_left_other(const struct mprof *mprof,
			  const struct heap_sums *sums,
			  uint64_t left[HEAP_CLASSES]);

static inline double mprof_percent(uint64_t part, uint64_t whole)
{
	return (double)part / (double)whole * 100.0;
}

/* The same; of nothing it is 0. */
static inline double mprof_share(uint64_t part, uint64_t whole)
{
	return whole ? mprof_percent(part, whole) : 0;
}

/* " s  m  l  x" in percent of the sum. */
void mprof_classes_print(FILE *out, const uint64_t figures[HEAP_CLASSES],
			 uint64_t sum);
/* Two titles in the middle above lines as wide as their columns. */
void mprof_heads(FILE *out, int margin, const char *left, int left_width,
		 const char *right, int right_width);
void mprof_name_print(const struct mprof *mprof, const struct callsite *site);

#endif

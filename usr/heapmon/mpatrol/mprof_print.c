// SPDX-License-Identifier: GPL-2.0
#include "mprof_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/safe_text.h"
#include "lib/key_map.h"

/* ---- sums ---- */

const uint64_t *mprof_allocated(const struct mprof *mprof,
				const struct heap_sums *sums)
{
	return mprof->options.counts ? sums->allocs : sums->alloc_bytes;
}

const uint64_t *mprof_allocated_other(const struct mprof *mprof,
				      const struct heap_sums *sums)
{
	return mprof->options.counts ? sums->alloc_bytes : sums->allocs;
}

static uint64_t classes_subtract(const uint64_t *from, const uint64_t *figures,
				 uint64_t left[HEAP_CLASSES])
{
	for (int i = 0; i < HEAP_CLASSES; i++)
		left[i] = from[i] - figures[i];
	return heap_classes_sum(left);
}

static uint64_t left_find(const struct heap_sums *sums, bool counts,
			  uint64_t left[HEAP_CLASSES])
{
	return counts ?
		classes_subtract(sums->allocs, sums->frees, left) :
		classes_subtract(sums->alloc_bytes, sums->free_bytes, left);
}

uint64_t mprof_left(const struct mprof *mprof, const struct heap_sums *sums,
		    uint64_t left[HEAP_CLASSES])
{
	return left_find(sums, mprof->options.counts, left);
}

uint64_t mprof_left_other(const struct mprof *mprof,
			  const struct heap_sums *sums,
			  uint64_t left[HEAP_CLASSES])
{
	return left_find(sums, !mprof->options.counts, left);
}

static void totals_find(struct mprof *mprof)
{
	const struct heap_profile *profile = mprof->profile;
	struct mprof_totals *totals = &mprof->totals;
	uint64_t bins = profile->bounds.bins;

	for (uint64_t i = 0; i < bins; i++) {
		totals->allocs += profile->alloc_bins[i];
		totals->frees += profile->free_bins[i];
		if (i == bins - 1)
			break;
		totals->alloc_bytes += profile->alloc_bins[i] * (i + 1);
		totals->free_bytes += profile->free_bins[i] * (i + 1);
	}
	totals->alloc_bytes += profile->large_alloc_bytes;
	totals->free_bytes += profile->large_free_bytes;
}

/* ---- groups ---- */

/* A number for each pair of numbers. */
struct mprof_pairs {
	struct key_map firsts;		/* numbers of the first ones */
	struct key_map numbers;		/* by number of the first, and second */
};

/* 0: no memory. */
static uint32_t pair_number(struct mprof_pairs *pairs, uint64_t a, uint32_t b)
{
	uint64_t first = key_map_serial(&pairs->firsts, a);

	return first ? key_map_serial(&pairs->numbers, first << 32 | b) : 0;
}

static void pairs_clear(struct mprof_pairs *pairs)
{
	key_map_free(&pairs->firsts);
	key_map_free(&pairs->numbers);
}

/*
 * By index: what a call site's callers are together, as far as `before` has
 * the callers' own; 0: it has none. A caller's index is lower, so that in
 * place (before == now) all of them count.
 */
static bool callers_number(const struct mprof *mprof, struct mprof_pairs *pairs,
			   const uint32_t *before, uint32_t *now)
{
	for (uint32_t i = 1; i <= mprof->callsites.count; i++) {
		const struct callsite *site =
			&mprof->callsites.items[mprof->place[i]];
		const struct callsite *caller;

		now[i] = 0;
		if (!site->parent)
			continue;
		caller = mprof_caller(mprof, site);
		now[i] = pair_number(pairs, mprof_place_key(mprof, caller),
				     before[site->parent]);
		if (!now[i])
			return false;
	}
	return true;
}

/* The same for callers up to so many frames in all; 0: all. */
static bool callers_compare(const struct mprof *mprof,
			    struct mprof_pairs *pairs, unsigned int depth,
			    uint32_t *callers)
{
	size_t size = (mprof->callsites.count + 1) * sizeof(*callers);
	uint32_t *before;
	bool done = true;

	if (!depth)
		return callers_number(mprof, pairs, callers, callers);
	if (depth > mprof->callsites.count)
		return callers_compare(mprof, pairs, 0, callers);
	before = calloc(1, size);
	for (unsigned int i = 1; before && done && i < depth; i++) {
		pairs_clear(pairs);
		done = callers_number(mprof, pairs, before, callers);
		memcpy(before, callers, size);
	}
	free(before);
	return before && done;
}

/* Neighbours that are one place and have the same callers become one. */
static bool groups_fill(const struct mprof *mprof, struct mprof_pairs *pairs,
			const uint32_t *callers, struct mprof_group *groups,
			uint32_t *group_of, size_t *count)
{
	const struct callsites *sites = &mprof->callsites;
	size_t first = 0;

	pairs_clear(pairs);
	for (size_t i = 0; i < sites->count; i++) {
		const struct callsite *site = &sites->items[i];
		uint32_t pair;

		if (!mprof_same_place(mprof, site, &sites->items[first]))
			first = i;
		if (!site->from)
			continue;
		pair = pair_number(pairs, first, callers[site->index]);
		if (!pair)
			return false;
		if (pair > *count) {
			groups[*count].site = site;
			group_of[pair] = (*count)++;
		}
		heap_sums_add(&groups[group_of[pair]].sums, &site->from->sums);
	}
	return true;
}

static int mprof_groups_make(const struct mprof *mprof, unsigned int depth,
			     struct mprof_group **groups, size_t *count)
{
	size_t room = mprof->callsites.count + 1;
	uint32_t *callers = calloc(room, sizeof(*callers));
	uint32_t *group_of = calloc(room, sizeof(*group_of));
	struct mprof_pairs pairs = { 0 };
	int ret = -ENOMEM;

	*groups = calloc(room, sizeof(**groups));
	if (callers && group_of && *groups &&
	    callers_compare(mprof, &pairs, depth, callers) &&
	    groups_fill(mprof, &pairs, callers, *groups, group_of, count))
		ret = 0;
	free(callers);
	free(group_of);
	pairs_clear(&pairs);
	return ret;
}

/* ---- all ---- */

static int places_find(struct mprof *mprof)
{
	const struct callsites *sites = &mprof->callsites;

	mprof->place = calloc(sites->count + 1, sizeof(*mprof->place));
	if (!mprof->place)
		return -ENOMEM;
	for (size_t i = 0; i < sites->count; i++)
		mprof->place[sites->items[i].index] = i;
	return 0;
}

int mprof_init(struct mprof *mprof, FILE *out,
	       const struct heap_profile *profile,
	       const struct style_mprof_options *options)
{
	int ret;
	const struct mprof_totals *totals;
	uint64_t left;
	uint64_t bytes;

	*mprof = (struct mprof){
		.out = out, .profile = profile, .options = *options,
	};
	totals_find(mprof);
	totals = &mprof->totals;
	left = totals->allocs - totals->frees;
	bytes = totals->alloc_bytes - totals->free_bytes;
	mprof->unit = "bytes";
	mprof->other_unit = "count";
	mprof->width = 8;
	mprof->other_width = 6;
	mprof->all = (struct mprof_pair){
		totals->alloc_bytes, bytes, totals->allocs, left
	};
	if (mprof->options.counts) {
		mprof->unit = "count";
		mprof->other_unit = "bytes";
		mprof->width = 6;
		mprof->other_width = 8;
		mprof->all = (struct mprof_pair){
			totals->allocs, left, totals->alloc_bytes, bytes
		};
	}
	ret = callsites_make(&mprof->callsites, profile);
	if (!ret)
		ret = places_find(mprof);
	if (!ret)
		ret = mprof_groups_make(mprof, options->depth, &mprof->leaks,
					&mprof->leak_count);
	if (!ret && (options->call_graph || options->graph))
		ret = mprof_groups_make(mprof, 0, &mprof->stacks,
					&mprof->stack_count);
	return ret;
}

void mprof_free(struct mprof *mprof)
{
	callsites_free(&mprof->callsites);
	free(mprof->place);
	free(mprof->leaks);
	free(mprof->stacks);
}

/* ---- printing ---- */

void mprof_classes_print(FILE *out, const uint64_t figures[HEAP_CLASSES],
			 uint64_t sum)
{
	for (int i = 0; i < HEAP_CLASSES; i++) {
		double percent = mprof_share(figures[i], sum);

		if (!figures[i] || !sum)
			fputs("   ", out);
		else if (percent <= 0.5)
			fputs("  .", out);
		else if (percent >= 99.5)
			fputs(" %%", out);
		else
			fprintf(out, " %2.0f", percent);
	}
}

static void dashes_print(FILE *out, int n)
{
	for (int i = 0; i < n; i++)
		putc('-', out);
}

void mprof_heads(FILE *out, int margin, const char *left, int left_width,
		 const char *right, int right_width)
{
	int before_left = (left_width - (int)strlen(left)) / 2;
	int before_right = (right_width - (int)strlen(right)) / 2;

	fprintf(out, "%*s%-*s  %*s%s\n", margin + before_left, "",
		left_width - before_left, left, before_right, "", right);
	fprintf(out, "%*s", margin, "");
	dashes_print(out, left_width);
	fputs("  ", out);
	dashes_print(out, right_width);
	putc('\n', out);
}

void mprof_name_print(const struct mprof *mprof, const struct callsite *site)
{
	const struct heap_trace *trace = mprof->profile->trace;
	const struct callsite_symbol *symbol;
	int64_t offset;

	if (!site->symbol) {
		fprintf(mprof->out, "0x%0*" PRIX64,
			trace->bits == 32 ? 8 : 16, site->address);
		return;
	}
	symbol = &mprof->callsites.symbols[site->symbol - 1];
	offset = site->address - symbol->address;
	safe_text_print(mprof->out, heap_text(trace, symbol->name), false);
	if (mprof->options.addresses && offset)
		fprintf(mprof->out, "%+" PRId64, offset);
}

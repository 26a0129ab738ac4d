// SPDX-License-Identifier: GPL-2.0
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

int heap_profile_init(struct heap_profile *profile, struct heap_trace *trace,
		      const struct heap_bounds *bounds)
{
	*profile = (struct heap_profile){ .bounds = *bounds, .trace = trace };
	if (!bounds->bins)
		return 0;
	profile->alloc_bins = calloc(bounds->bins, sizeof(uint64_t));
	profile->free_bins = calloc(bounds->bins, sizeof(uint64_t));
	if (profile->alloc_bins && profile->free_bins)
		return 0;
	heap_profile_free(profile);
	return -ENOMEM;
}

void heap_profile_free(struct heap_profile *profile)
{
	free(profile->sites);
	free(profile->site_at);
	free(profile->alloc_bins);
	free(profile->free_bins);
	*profile = (struct heap_profile){ 0 };
}

struct heap_site *heap_profile_site(struct heap_profile *profile,
				    uint32_t stack)
{
	if (!array_extend(&profile->site_at, &profile->site_at_size,
			  &profile->site_at_room, sizeof(*profile->site_at),
			  stack))
		return NULL;
	if (!profile->site_at[stack]) {
		if (!array_extend(&profile->sites, &profile->site_count,
				  &profile->site_room, sizeof(*profile->sites),
				  profile->site_count))
			return NULL;
		profile->site_at[stack] = profile->site_count;
		profile->sites[profile->site_count - 1].stack = stack;
	}
	return &profile->sites[profile->site_at[stack] - 1];
}

unsigned int heap_profile_class(const struct heap_profile *profile,
				uint64_t size)
{
	const struct heap_bounds *bounds = &profile->bounds;

	if (size <= bounds->small)
		return 0;
	if (size <= bounds->medium)
		return 1;
	return size <= bounds->large ? 2 : 3;
}

static void bin_count(const struct heap_profile *profile, uint64_t *bins,
		      uint64_t *large_bytes, uint64_t size)
{
	uint64_t bin = size ? size - 1 : 0, last = profile->bounds.bins - 1;

	if (!profile->bounds.bins)
		return;
	if (bin < last) {
		bins[bin]++;
		return;
	}
	bins[last]++;
	*large_bytes += size;
}

/* ---- peaks ---- */

/* What the site has now is what it had at the last peak. */
static void site_keep_peak(const struct heap_profile *profile,
			   struct heap_site *site)
{
	if (site->peak == profile->peak)
		return;
	site->peak = profile->peak;
	site->peak_count = site->now.count;
	site->peak_bytes = site->now.bytes;
	site->weighted.peak_count = site->weighted_now_count;
	site->weighted.peak_bytes = site->weighted_now_bytes;
}

void heap_profile_peak(struct heap_profile *profile)
{
	for (size_t i = 0; i < profile->site_count; i++)
		site_keep_peak(profile, &profile->sites[i]);
}

/* `sign` 1: a block is there from now on; -1: no longer. */
static void profile_site_change(struct heap_profile *profile,
				struct heap_site *site, uint64_t size, int sign)
{
	double weight = sign * heap_trace_weight(profile->trace, size);

	site_keep_peak(profile, site);
	site->now.count += sign;
	site->now.bytes += sign * size;
	site->weighted_now_count += weight;
	site->weighted_now_bytes += weight * size;
	profile->weighted_now += weight * size;
	if (profile->weighted_now <= profile->weighted_most && profile->peak)
		return;
	profile->weighted_most = profile->weighted_now;
	profile->peak++;
}

/* ---- steps ---- */

/* A block came, or went. */
static int profile_move(struct heap_profile *profile,
			const struct heap_block *block, bool came,
			bool temporary)
{
	struct heap_weighted *weighted;
	struct heap_site *site;
	unsigned int class;
	double weight;

	if (!block || block->old)
		return 0;
	class = heap_profile_class(profile, block->size);
	weight = heap_trace_weight(profile->trace, block->size);
	site = heap_profile_site(profile, block->stack);
	if (!site)
		return -ENOMEM;
	weighted = &site->weighted;
	if (came) {
		site->sums.allocs[class]++;
		site->sums.alloc_bytes[class] += block->size;
		weighted->allocs += weight;
		weighted->alloc_bytes += weight * block->size;
		bin_count(profile, profile->alloc_bins,
			  &profile->large_alloc_bytes, block->size);
	} else {
		site->sums.frees[class]++;
		site->sums.free_bytes[class] += block->size;
		site->temporary += temporary;
		weighted->frees += weight;
		weighted->free_bytes += weight * block->size;
		weighted->temporary += temporary ? weight : 0;
		bin_count(profile, profile->free_bins,
			  &profile->large_free_bytes, block->size);
	}
	profile_site_change(profile, site, block->size, came ? 1 : -1);
	return 0;
}

int heap_profile_take(struct heap_profile *profile,
		      const struct heap_step *step)
{
	struct heap_each each = { 0 };
	const struct heap_block *left;

	while ((left = heap_step_next_left(step, &each))) {
		/* its site is there: the block came once */
		struct heap_site *site = heap_profile_site(profile, left->stack);

		if (site && !left->old)
			profile_site_change(profile, site, left->size, -1);
	}
	if (profile_move(profile, step->gone, false, step->temporary) ||
	    profile_move(profile, step->lost, false, false))
		return -ENOMEM;
	return profile_move(profile, step->came, true, false);
}

void heap_sums_add(struct heap_sums *sums, const struct heap_sums *more)
{
	for (int i = 0; i < HEAP_SUMS; i++)
		sums->all[i] += more->all[i];
}

uint64_t heap_classes_sum(const uint64_t figures[HEAP_CLASSES])
{
	uint64_t sum = 0;

	for (int i = 0; i < HEAP_CLASSES; i++)
		sum += figures[i];
	return sum;
}

void heap_site_weighted(const struct heap_profile *profile,
			const struct heap_site *site,
			struct heap_weighted *weighted)
{
	if (profile->trace->sample) {
		*weighted = site->weighted;
		return;
	}
	*weighted = (struct heap_weighted){
		.allocs = heap_classes_sum(site->sums.allocs),
		.alloc_bytes = heap_classes_sum(site->sums.alloc_bytes),
		.frees = heap_classes_sum(site->sums.frees),
		.free_bytes = heap_classes_sum(site->sums.free_bytes),
		.temporary = site->temporary,
		.peak_count = site->peak_count,
		.peak_bytes = site->peak_bytes,
	};
}

// SPDX-License-Identifier: GPL-2.0
#include "style.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "callgraph.h"
#include "mprof_print.h"

static void table_title(const struct mprof *mprof, int margin, const char *text)
{
	fprintf(mprof->out, "%*s%s\n\n", margin, "", text);
}

/* ---- allocation bins ---- */

static void bin_print(const struct mprof *mprof, uint64_t bin)
{
	const struct heap_profile *profile = mprof->profile;
	const struct mprof_totals *all = &mprof->totals;
	bool last = bin == profile->bounds.bins - 1;
	uint64_t count = profile->alloc_bins[bin];
	uint64_t left = count - profile->free_bins[bin];
	uint64_t bytes = count * (bin + 1), left_bytes = left * (bin + 1);

	if (last) {
		bytes = profile->large_alloc_bytes;
		left_bytes = bytes - profile->large_free_bytes;
	}
	fprintf(mprof->out, " %s %4" PRIu64 "  %6" PRIu64 "  %6.2f  %8" PRIu64
		"  %6.2f  %6" PRIu64 "  %6.2f  %8" PRIu64 "  %6.2f\n",
		last ? ">=" : "  ", bin + 1,
		count, mprof_percent(count, all->allocs),
		bytes, mprof_percent(bytes, all->alloc_bytes),
		left, mprof_share(left, all->allocs - all->frees),
		left_bytes, mprof_share(left_bytes,
					all->alloc_bytes - all->free_bytes));
}

/* ---- rows: call sites taken together, largest first ---- */

struct mprof_row {
	uint64_t key;
	size_t order;			/* in which they were made */
	const struct callsite *site;	/* the first of those taken together */
	struct heap_sums sums;
};

/* Of equal ones the later one is first, as a walk down mpatrol's tree meets
 * them. */
static int mprof_row_compare(const void *a, const void *b)
{
	const struct mprof_row *one = a, *two = b;

	if (one->key != two->key)
		return one->key > two->key ? -1 : 1;
	return one->order > two->order ? -1 : one->order < two->order;
}

static void mprof_rows_sort(struct mprof_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rows[i].order = i;
	qsort(rows, count, sizeof(*rows), mprof_row_compare);
}

/* ---- direct allocations ---- */

/* One row for each place, for all of its callers. */
static size_t direct_rows(const struct mprof *mprof, struct mprof_row *rows)
{
	const struct callsites *sites = &mprof->callsites;
	size_t count = 0;

	for (size_t i = 0; i < sites->count;) {
		const struct callsite *first = &sites->items[i++];
		struct mprof_row *row = &rows[count];

		if (!first->from)
			continue;
		*row = (struct mprof_row){ .site = first };
		heap_sums_add(&row->sums, &first->from->sums);
		for (; i < sites->count &&
		       mprof_same_place(mprof, &sites->items[i], first); i++)
			if (sites->items[i].from)
				heap_sums_add(&row->sums,
					      &sites->items[i].from->sums);
		row->key = heap_classes_sum(mprof_allocated(mprof, &row->sums));
		count++;
	}
	mprof_rows_sort(rows, count);
	return count;
}

static void direct_row_print(const struct mprof *mprof,
			     const struct mprof_row *row)
{
	const struct mprof_pair *all = &mprof->all;
	uint64_t left[HEAP_CLASSES];
	uint64_t sum = mprof_left(mprof, &row->sums, left);

	fprintf(mprof->out, "%*" PRIu64 "  %6.2f ", mprof->width, row->key,
		mprof_percent(row->key, all->allocated));
	mprof_classes_print(mprof->out, mprof_allocated(mprof, &row->sums),
			    all->allocated);
	fprintf(mprof->out, "  %*" PRIu64 "  %6.2f ", mprof->width, sum,
		mprof_share(sum, all->left));
	mprof_classes_print(mprof->out, left, all->left);
	fprintf(mprof->out, "  %*" PRIu64 "  ", mprof->other_width,
		heap_classes_sum(mprof_allocated_other(mprof, &row->sums)));
	mprof_name_print(mprof, row->site);
	putc('\n', mprof->out);
}

static void direct_print(const struct mprof *mprof, struct mprof_row *rows)
{
	const struct heap_bounds *bounds = &mprof->profile->bounds;
	int width = mprof->width + 21;
	size_t count = direct_rows(mprof, rows);
	struct heap_sums sums;
	uint64_t left[HEAP_CLASSES];

	table_title(mprof, 31, "DIRECT ALLOCATIONS");
	fprintf(mprof->out, "%20s(0 < s <= %" PRIu64 " < m <= %" PRIu64
		" < l <= %" PRIu64 " < x)\n\n", "", bounds->small,
		bounds->medium, bounds->large);
	mprof_heads(mprof->out, 0, "allocated", width, "unfreed", width);
	fprintf(mprof->out, "%*s       %%   s  m  l  x  %*s       %%"
		"   s  m  l  x  %*s  function\n\n", mprof->width, mprof->unit,
		mprof->width, mprof->unit, mprof->other_width,
		mprof->other_unit);
	for (size_t i = 0; i < count; i++)
		direct_row_print(mprof, &rows[i]);
	sums = (struct heap_sums){ 0 };
	for (size_t i = 0; i < count; i++)
		heap_sums_add(&sums, &rows[i].sums);
	mprof_left(mprof, &sums, left);
	fprintf(mprof->out, "%s%*" PRIu64 "         ", count ? "\n" : "",
		mprof->width, mprof->all.allocated);
	mprof_classes_print(mprof->out, mprof_allocated(mprof, &sums),
			    mprof->all.allocated);
	fprintf(mprof->out, "  %*" PRIu64 "         ", mprof->width,
		mprof->all.left);
	mprof_classes_print(mprof->out, left, mprof->all.left);
	fprintf(mprof->out, "  %*" PRIu64 "  total\n", mprof->other_width,
		mprof->all.other_allocated);
}

/* ---- memory leaks ---- */

static void leak_row_print(const struct mprof *mprof,
			   const struct mprof_row *row)
{
	const struct callsite *site = row->site;
	uint64_t left[HEAP_CLASSES];
	uint64_t other_left = mprof_left_other(mprof, &row->sums, left);
	uint64_t bytes = heap_classes_sum(mprof_allocated(mprof, &row->sums));
	uint64_t other =
		heap_classes_sum(mprof_allocated_other(mprof, &row->sums));

	fprintf(mprof->out, "%6.2f  %*" PRIu64 "  %6.2f  %*" PRIu64
		"  %6.2f  %*" PRIu64 "  %*" PRIu64 "  ",
		mprof_percent(row->key, mprof->all.left),
		mprof->width, row->key, mprof_percent(row->key, bytes),
		mprof->other_width, other_left,
		mprof_percent(other_left, other),
		mprof->width, bytes, mprof->other_width, other);
	mprof_name_print(mprof, site);
	putc('\n', mprof->out);
	for (unsigned int i = 1; site->parent &&
	     (!mprof->options.depth || i < mprof->options.depth); i++) {
		site = mprof_caller(mprof, site);
		fprintf(mprof->out, "%60s", "");
		mprof_name_print(mprof, site);
		putc('\n', mprof->out);
	}
}

/* ---- all ---- */

static int tables_print(struct mprof *mprof)
{
	struct mprof_row *rows =
		calloc(mprof->callsites.count + 1, sizeof(*rows));
	int ret = 0;
	const struct heap_profile *profile;
	const struct mprof_totals *all;
	bool any;
	size_t count;

	if (!rows)
		return -ENOMEM;
	profile = mprof->profile;
	all = &mprof->totals;
	any = false;
	table_title(mprof, 32, "ALLOCATION BINS");
	fprintf(mprof->out, "%29s(number of bins: %" PRIu64 ")\n\n", "",
		profile->bounds.bins);
	mprof_heads(mprof->out, 10, "allocated", 32, "unfreed", 32);
	fputs("    size   count       %     bytes       %   count       %"
	      "     bytes       %\n\n", mprof->out);
	for (uint64_t i = 0; i < profile->bounds.bins; i++) {
		if (!profile->alloc_bins[i])
			continue;
		bin_print(mprof, i);
		any = true;
	}
	fprintf(mprof->out, "%s   total  %6" PRIu64 "          %8" PRIu64
		"          %6" PRIu64 "          %8" PRIu64 "\n",
		any ? "\n" : "", all->allocs, all->alloc_bytes,
		all->allocs - all->frees, all->alloc_bytes - all->free_bytes);
	fputs("\n\n", mprof->out);
	direct_print(mprof, rows);
	fputs("\n\n", mprof->out);
	count = 0;
	for (size_t i = 0; i < mprof->leak_count; i++) {
		const struct mprof_group *group = &mprof->leaks[i];
		uint64_t left[HEAP_CLASSES];
		uint64_t key = mprof_left(mprof, &group->sums, left);

		if (key)
			rows[count++] = (struct mprof_row){
				.key = key, .site = group->site,
				.sums = group->sums,
			};
	}
	mprof_rows_sort(rows, count);
	table_title(mprof, 34, "MEMORY LEAKS");
	fprintf(mprof->out, "%28s(maximum stack depth: %u)\n\n", "",
		mprof->options.depth);
	mprof_heads(mprof->out, 0, "unfreed", 40, "allocated", 16);
	fprintf(mprof->out, "     %%  %*s       %%  %*s       %%  %*s  %*s"
		"  function\n\n", mprof->width, mprof->unit,
		mprof->other_width, mprof->other_unit, mprof->width,
		mprof->unit, mprof->other_width, mprof->other_unit);
	for (size_t i = 0; i < count; i++)
		leak_row_print(mprof, &rows[i]);
	fprintf(mprof->out, "%s        %*" PRIu64 "  %6.2f  %*" PRIu64
		"  %6.2f  %*" PRIu64 "  %*" PRIu64 "  total\n",
		count ? "\n" : "", mprof->width, mprof->all.left,
		mprof_share(mprof->all.left, mprof->all.allocated),
		mprof->other_width, mprof->all.other_left,
		mprof_share(mprof->all.other_left, mprof->all.other_allocated),
		mprof->width, mprof->all.allocated, mprof->other_width,
		mprof->all.other_allocated);
	free(rows);
	if (mprof->options.call_graph) {
		fputs("\n\n", mprof->out);
		ret = callgraph_print(mprof);
	}
	if (!ret && mprof->options.graph)
		ret = callgraph_write(mprof);
	return ret;
}

int style_mprof_print(FILE *out, const struct heap_profile *profile,
		      const struct style_mprof_options *options,
		      struct error *err)
{
	struct mprof mprof;
	int ret = mprof_init(&mprof, out, profile, options);

	if (!ret)
		ret = tables_print(&mprof);
	mprof_free(&mprof);
	return ret ? error_no_memory(err) : 0;
}

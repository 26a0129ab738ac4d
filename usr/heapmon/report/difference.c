// SPDX-License-Identifier: GPL-2.0
/*
 * Two reports compared. Stacks of two files are the same when they read the
 * same: by names and lines, not by addresses, which change from run to run.
 */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/text.h"

struct difference_row {
	struct digest_sum allocated[2], kept[2], peak[2];
};

struct difference {
	struct heap_strings stacks;	/* their texts; rows by their numbers */
	struct difference_row *rows;
	size_t count, room;
	const struct digest *digests[2];
	bool failed;
};

/* "work app.c:33": without the offset, which any change of code changes. */
static void difference_put_frame(FILE *out, const struct heap_trace *trace,
				 uint32_t number)
{
	const struct heap_frame *frame = &trace->frames[number];
	char name[1024];

	heap_frame_name(trace, number, name, sizeof(name));
	fputs("      ", out);
	safe_text_print(out, name, false);
	if (frame->file) {
		fputc(' ', out);
		safe_text_print(out, heap_text(trace, frame->file), false);
	}
	if (frame->file && frame->line)
		fprintf(out, ":%u", frame->line);
	fputc('\n', out);
}

/* For free(); NULL: no memory. */
static char *stack_text(const struct heap_trace *trace, uint32_t stack)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed;

	if (!out)
		return NULL;
	if (!stack)
		fputs("      (no stack)\n", out);
	for (uint32_t at = stack; at; at = trace->stacks[at].parent)
		difference_put_frame(out, trace, trace->stacks[at].frame);
	failed = ferror(out);
	if (!fclose(out) && !failed)
		return text;
	free(text);
	return NULL;
}

/* The row of a stack of either file; NULL: no memory. */
static struct difference_row *row_get(struct difference *difference,
				      const struct heap_trace *trace,
				      uint32_t stack)
{
	char *text = stack_text(trace, stack);
	uint32_t number;

	if (!text)
		return NULL;
	number = heap_strings_add(&difference->stacks, text);
	free(text);
	if (!number || !array_extend(&difference->rows, &difference->count,
				     &difference->room,
				     sizeof(struct difference_row), number))
		return NULL;
	return &difference->rows[number];
}

static void difference_take(struct difference *difference, int which)
{
	const struct digest *digest = difference->digests[which];

	for (size_t i = 0; i < digest->site_count; i++) {
		const struct digest_site *site = &digest->sites[i];
		struct difference_row *row;

		if (!site->allocated.count)
			continue;
		row = row_get(difference, digest->trace, i);
		if (!row) {
			difference->failed = true;
			return;
		}
		digest_sum_merge(&row->allocated[which], &site->allocated);
		digest_sum_merge(&row->kept[which], &site->kept);
		digest_sum_merge(&row->peak[which], &site->peak);
	}
}

/* ---- tables ---- */

struct table {
	enum report_section section;
	const char *title;
	size_t offset;		/* of its sums in a row */
};

static const struct table tables[] = {
	{ REPORT_LIVE, "not freed, by stack",
	  offsetof(struct difference_row, kept) },
	{ REPORT_PEAK, "at the peak, by stack",
	  offsetof(struct difference_row, peak) },
	{ REPORT_ALLOCATED, "allocated, by stack",
	  offsetof(struct difference_row, allocated) },
};

static const struct digest_sum *row_sums(const struct difference_row *row,
					 const struct table *table)
{
	return (const void *)((const char *)row + table->offset);
}

static void print_sums(FILE *out, const struct digest_sum *before,
		       const struct digest_sum *after)
{
	fprintf(out, "  %+12.0f %+16.0f %12.0f %16.0f %12.0f %16.0f\n",
		after->count - before->count, after->bytes - before->bytes,
		before->count, before->bytes, after->count, after->bytes);
}

static void difference_print_stack(FILE *out, const char *text, uint32_t depth)
{
	uint32_t left = depth;

	while (*text) {
		size_t length = strcspn(text, "\n") + 1;

		if (depth && !left--) {
			fputs("      ...\n", out);
			return;
		}
		fwrite(text, 1, length, out);
		text += length;
	}
}

static int difference_print_table(FILE *out,
				  const struct difference *difference,
				  const struct table *table,
				  const struct report_settings *settings)
{
	struct report_rank *ranks =
		calloc(difference->count + 1, sizeof(*ranks));
	const struct digest_sum *sums;
	size_t count = 0, shown;

	if (!ranks)
		return -ENOMEM;
	for (size_t i = 1; i < difference->count; i++) {
		sums = row_sums(&difference->rows[i], table);
		if (sums[0].bytes != sums[1].bytes ||
		    sums[0].count != sums[1].count)
			ranks[count++] = (struct report_rank){
				fabs(sums[1].bytes - sums[0].bytes), i,
			};
	}
	report_ranks_sort(ranks, count, sizeof(*ranks));
	shown = settings->top && settings->top < count ? settings->top : count;
	if (count)
		fprintf(out, "\n%s\n        blocks            bytes       before            bytes        after            bytes\n",
			table->title);
	for (size_t i = 0; i < shown; i++) {
		sums = row_sums(&difference->rows[ranks[i].number], table);
		print_sums(out, &sums[0], &sums[1]);
		difference_print_stack(out, heap_strings_get(
				       &difference->stacks, ranks[i].number),
				       settings->depth);
	}
	if (shown < count)
		fprintf(out, "  ... and %zu more stacks (--top=0 for all)\n",
			count - shown);
	free(ranks);
	return 0;
}

static void print_total(FILE *out, const char *name,
			const struct digest_sum *before,
			const struct digest_sum *after)
{
	fprintf(out, "  %-10s", name);
	print_sums(out, before, after);
}

static void print_totals(FILE *out, const struct difference *difference)
{
	const struct digest *before = difference->digests[0];
	const struct digest *after = difference->digests[1];

	fputs("difference              blocks            bytes       before            bytes        after            bytes\n",
	      out);
	print_total(out, "allocated", &before->allocated, &after->allocated);
	print_total(out, "freed", &before->freed, &after->freed);
	print_total(out, "not freed", &before->kept, &after->kept);
	if (!before->sums && !after->sums)
		print_total(out, "peak", &before->peak, &after->peak);
}

int report_print_difference(FILE *out, const struct digest *before,
			    const struct digest *after,
			    const struct report_settings *settings,
			    struct error *err)
{
	struct difference difference = { .digests = { before, after } };

	difference_take(&difference, 0);
	difference_take(&difference, 1);
	report_print_notes(out, "note: before: ", before);
	report_print_notes(out, "note: after: ", after);
	print_totals(out, &difference);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (settings->sections & 1u << tables[i].section &&
		    difference_print_table(out, &difference, &tables[i],
					   settings))
			difference.failed = true;
	heap_strings_free(&difference.stacks);
	free(difference.rows);
	return difference.failed ? error_no_memory(err) : 0;
}

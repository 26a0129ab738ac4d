// SPDX-License-Identifier: GPL-2.0
#include "style.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "lib/array.h"
#include "lib/text.h"
#include "lib/key_map.h"
#include "mpatrol.h"

void style_mptrace_free(struct style_mptrace *style)
{
	free(style->skipped);
	key_map_free(&style->firsts);
}

/* ---- lines ---- */

static int address_digits(const struct heap_trace *trace)
{
	return trace->bits == 32 ? 8 : 16;
}

static void mptrace_head_print(struct style_mptrace *style)
{
	int width = 2 + address_digits(style->trace);
	int left = (width - 10) / 2;	/* of "allocation" */

	style->begun = true;
	if (!style->verbose)
		return;
	fprintf(style->out, " event  type     index  %*sallocation%*s"
		"      size    life   count     bytes\n", left, "", left, "");
	fputs("------  ------  ------  ", style->out);
	for (int i = 0; i < width; i++)
		putc('-', style->out);
	fputs("  --------  ------  ------  --------\n", style->out);
}

static void mptrace_source_print(struct style_mptrace *style,
				 const struct heap_event *event)
{
	struct caller caller;
	bool place;

	caller_find(style->trace, event->stack, &caller);
	place = *caller.file && caller.line;
	if (!event->tid && !*caller.function && !place)
		return;
	fprintf(style->out, "%23s", "");
	if (event->tid)
		fprintf(style->out, " thread %" PRIu32, event->tid);
	if (*caller.function) {
		fputs(" in ", style->out);
		safe_text_print(style->out, caller.function, false);
	}
	if (place) {
		fputs(" at ", style->out);
		safe_text_print(style->out, caller.file, false);
		fprintf(style->out, " line %" PRIu32, caller.line);
	}
	putc('\n', style->out);
}

/* `life` < 0: it isn't over. */
static void event_print(struct style_mptrace *style, const char *type,
			uint64_t number, int64_t life,
			const struct heap_block *block,
			const struct heap_event *event)
{
	char text[24] = "";

	if (!style->verbose)
		return;
	if (life >= 0)
		snprintf(text, sizeof(text), "%" PRId64, life);
	fprintf(style->out, "%6" PRIu64 "  %-7s %6" PRIu64 "  0x%0*" PRIX64
		"  %8" PRIu64 "  %6s  %6" PRIu64 "  %8" PRIu64 "\n",
		number, type, block->index, address_digits(style->trace),
		block->address, block->size, text,
		style->allocated.count - style->freed.count,
		style->allocated.bytes - style->freed.bytes);
	if (style->source)
		mptrace_source_print(style, event);
}

static void pages_print(struct style_mptrace *style, const char *type,
			const struct heap_event *event)
{
	if (style->verbose)
		fprintf(style->out, "        %-15s 0x%0*" PRIX64 "  %8" PRIu64
			"\n", type, address_digits(style->trace),
			event->address, event->size);
}

/* ---- sums ---- */

static void most(uint64_t *value, uint64_t other)
{
	if (*value < other)
		*value = other;
}

static void came_count(struct style_mptrace *style, uint64_t size)
{
	heap_totals_add(&style->allocated, size);
	most(&style->peak.count,
	     style->allocated.count - style->freed.count);
	most(&style->peak.bytes,
	     style->allocated.bytes - style->freed.bytes);
	/* as mptrace: a size of 0 is forgotten */
	if (!style->smallest || style->smallest > size)
		style->smallest = size;
	most(&style->largest, size);
}

/* ---- steps ---- */

/* The number among mptrace's events of one that has this one in the model. */
static uint64_t mptrace_number_of(const struct style_mptrace *style,
				  uint64_t number)
{
	return number - array_count_upto(style->skipped, style->skipped_count,
					 sizeof(*style->skipped), number);
}

static int number_skip(struct style_mptrace *style, uint64_t number,
		       struct error *err)
{
	if (!array_grow(&style->skipped, style->skipped_count,
			&style->skipped_room, sizeof(*style->skipped)))
		return error_no_memory(err);
	style->skipped[style->skipped_count++] = number;
	return 0;
}

/* Of the block that has an index of the file the event that its life counts from:
 * mptrace goes on counting when the index is used again. 0: no memory. */
static uint64_t life_begin(struct style_mptrace *style,
			   const struct heap_event *event, uint64_t number)
{
	uint64_t first;

	if (!event->index)
		return number;
	first = key_map_number(&style->firsts, event->index);
	if (first)
		return first;
	return key_map_add_number(&style->firsts, event->index, number) ?
	       0 : number;
}

/* Blocks that mpatrol wouldn't have seen come don't count. */
static const struct heap_block *own_block(const struct heap_block *block)
{
	return block && !block->old ? block : NULL;
}

static int mptrace_free_step(struct style_mptrace *style,
			     const struct heap_step *step,
			     const struct heap_block *gone)
{
	uint64_t number = mptrace_number_of(style, step->number), begin;

	if (!gone)
		return 0;
	begin = mptrace_number_of(style, gone->number);
	if (!step->came)
		begin = life_begin(style, step->event, begin);
	if (!begin)
		return -ENOMEM;
	heap_totals_add(&style->freed, gone->size);
	event_print(style, "free", number, number - begin, gone, step->event);
	return 0;
}

static int mptrace_block_step(struct style_mptrace *style,
			      const struct heap_step *step)
{
	const struct heap_block *came = step->came;
	const struct heap_block *resized = NULL;

	if (!came)
		return mptrace_free_step(style, step, own_block(step->gone));
	if (mptrace_free_step(style, step,
			      own_block(mpatrol_displaced(step))) ||
	    !life_begin(style, step->event,
			mptrace_number_of(style, step->number)))
		return -ENOMEM;
	if (step->event->kind == HEAP_REALLOC)
		resized = own_block(step->gone);
	if (resized)
		heap_totals_add(&style->freed, resized->size);
	came_count(style, came->size);
	event_print(style, resized ? "realloc" : "alloc",
		    mptrace_number_of(style, step->number), -1, came,
		    step->event);
	return 0;
}

int style_mptrace_step(void *context, const struct heap_model *model,
		       const struct heap_step *step, struct error *err)
{
	struct style_mptrace *style = context;
	const struct heap_event *event = step->event;

	style->trace = model->trace;
	if (!style->begun)
		mptrace_head_print(style);
	switch (event->kind) {
	case HEAP_ALLOC:
	case HEAP_REALLOC:
	case HEAP_FREE:
		return mptrace_block_step(style, step) ? error_no_memory(err)
						       : 0;
	case HEAP_GROW:
		heap_totals_add(&style->reserved, event->size);
		pages_print(style, "reserve", event);
		return number_skip(style, step->number, err);
	case HEAP_INTERNAL:
		heap_totals_add(&style->internal, event->size);
		pages_print(style, "internal", event);
		return number_skip(style, step->number, err);
	case HEAP_OLD:
		return number_skip(style, step->number, err);
	default:
		return 0;
	}
}

/* ---- the end ---- */

static void mptrace_bytes_print(FILE *out, uint64_t bytes)
{
	fprintf(out, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
}

static void mptrace_size_print(FILE *out, const char *name, uint64_t bytes)
{
	fprintf(out, "%-14s ", name);
	mptrace_bytes_print(out, bytes);
	putc('\n', out);
}

/* To the nearest; halves to the even one. */
static uint64_t mptrace_divide(uint64_t bytes, uint64_t count)
{
	uint64_t whole, rest;

	if (!count)
		return 0;
	whole = bytes / count;
	rest = bytes % count;
	if (rest > count - rest || (rest == count - rest && whole % 2))
		whole++;
	return whole;
}

static struct heap_totals totals_of(const struct heap_totals *a,
				    const struct heap_totals *b, int sign)
{
	return (struct heap_totals){
		a->count + sign * b->count, a->bytes + sign * b->bytes,
	};
}

void style_mptrace_end(struct style_mptrace *style,
		       const struct heap_trace *trace)
{
	const struct {
		const char *name;
		struct heap_totals totals;
	} rows[] = {
		{ "allocated:", style->allocated },
		{ "freed:", style->freed },
		{ "unfreed:", totals_of(&style->allocated, &style->freed, -1) },
		{ "peak:", style->peak },
		{ "reserved:", style->reserved },
		{ "internal:", style->internal },
		{ "total:", totals_of(&style->reserved, &style->internal, 1) },
	};
	FILE *out = style->out;

	style->trace = trace;
	if (!style->begun)
		mptrace_head_print(style);
	if (style->verbose)
		putc('\n', out);
	fputs("memory allocation tracing statistics\n"
	      "------------------------------------\n", out);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		fprintf(out, "%-10s %" PRIu64 " (", rows[i].name,
			rows[i].totals.count);
		mptrace_bytes_print(out, rows[i].totals.bytes);
		fputs(")\n", out);
	}
	putc('\n', out);
	mptrace_size_print(out, "smallest size:", style->smallest);
	mptrace_size_print(out, "largest size:", style->largest);
	mptrace_size_print(out, "average size:",
			   mptrace_divide(style->allocated.bytes,
					  style->allocated.count));
}

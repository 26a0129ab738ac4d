// SPDX-License-Identifier: GPL-2.0
/*
 * What heaptrack_interpret writes and heaptrack_print and heaptrack_gui read,
 * version 3: a line for each thing, numbers in hexadecimal, strings, frames and
 * stacks numbered from 1 in the order in which they are met.
 *
 *	v VERSION 3			X COMMAND LINE
 *	I PAGE-BYTES PAGES		s LENGTH STRING
 *	i ADDRESS MODULE [FUNCTION FILE LINE]
 *	t FRAME CALLER			a SIZE STACK (numbered from 0: unused here)
 *	+ ALLOCATION			- ALLOCATION
 *	c MILLISECONDS			# a comment
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "heapmon/core/format.h"
#include "lib/array.h"
#include "lib/key_map.h"

#define PROGRAM_VERSION		0x10400	/* of heaptrack, whose format it is */
#define FORMAT_VERSION		3

/* Numbers given out, by the trace's own. 0: none yet. */
struct heaptrack_numbers {
	uint32_t *items;
	size_t count, room;
	uint32_t last;
};

struct heaptrack {
	struct heap_output *output;
	FILE *file;
	struct heaptrack_numbers strings, frames, stacks;
	struct key_pairs allocations;	/* numbers of sizes and stacks */
	uint32_t allocation_count;
	int64_t begin;		/* ns; HEAP_NO_TIME */
	uint64_t time;		/* ms since then, as written */
	uint32_t pid;		/* of the first block */
	bool command;
};

/* Where the number of `item` is kept; NULL: no memory. */
static uint32_t *heaptrack_number_of(struct heaptrack_numbers *numbers,
				     uint32_t item)
{
	return array_extend(&numbers->items, &numbers->count, &numbers->room,
			    sizeof(*numbers->items), item) ?
	       &numbers->items[item] : NULL;
}

/* The end of a line, which can't hold all text. */
static void put_text(FILE *file, const char *text)
{
	for (; *text; text++)
		putc(*text == '\n' || *text == '\r' ? ' ' : *text, file);
	putc('\n', file);
}

static int heaptrack_put_string(struct heaptrack *heaptrack, uint32_t string,
				uint32_t *number)
{
	const char *text = heap_text(heaptrack->output->trace, string);
	uint32_t *known;

	*number = 0;
	if (!*text)
		return 0;
	known = heaptrack_number_of(&heaptrack->strings, string);
	if (!known)
		return -ENOMEM;
	if (!*known) {
		*known = ++heaptrack->strings.last;
		fprintf(heaptrack->file, "s %zx ", strlen(text));
		put_text(heaptrack->file, text);
	}
	*number = *known;
	return 0;
}

static int heaptrack_put_frame(struct heaptrack *heaptrack, uint32_t number,
			       uint32_t *written)
{
	const struct heap_frame *frame =
		&heaptrack->output->trace->frames[number];
	uint32_t *known = heaptrack_number_of(&heaptrack->frames, number);
	uint32_t module, symbol, file;

	if (!known)
		return -ENOMEM;
	if (!*known) {
		if (heaptrack_put_string(heaptrack, frame->module, &module) ||
		    heaptrack_put_string(heaptrack, frame->symbol, &symbol) ||
		    heaptrack_put_string(heaptrack, frame->file, &file))
			return -ENOMEM;
		fprintf(heaptrack->file, "i %" PRIx64 " %x", frame->address,
			module);
		if (symbol || file)
			fprintf(heaptrack->file, " %x %x %x", symbol, file,
				frame->line);
		putc('\n', heaptrack->file);
		*known = ++heaptrack->frames.last;
	}
	*written = *known;
	return 0;
}

/* With all of its callers that aren't written yet, the outermost first. */
static int heaptrack_put_stack(struct heaptrack *heaptrack, uint32_t stack,
			       uint32_t *written)
{
	const struct heap_stack *stacks = heaptrack->output->trace->stacks;
	uint32_t *pending, *known, frame, caller = 0;
	size_t count = 0;
	int ret = 0;

	*written = 0;
	if (!stack)
		return 0;
	pending = malloc((stacks[stack].depth + (size_t)1) * sizeof(*pending));
	if (!pending)
		return -ENOMEM;
	for (uint32_t at = stack; at && !ret; at = stacks[at].parent) {
		known = heaptrack_number_of(&heaptrack->stacks, at);
		if (!known)
			ret = -ENOMEM;
		caller = known ? *known : 0;
		if (caller)
			break;
		pending[count++] = at;
	}
	while (!ret && count) {
		ret = heaptrack_put_frame(heaptrack,
					  stacks[pending[--count]].frame,
					  &frame);
		if (ret)
			break;
		fprintf(heaptrack->file, "t %x %x\n", frame, caller);
		caller = ++heaptrack->stacks.last;
		heaptrack->stacks.items[pending[count]] = caller;
	}
	free(pending);
	*written = caller;
	return ret;
}

/* "a": blocks of this size from there. */
static int put_allocation(struct heaptrack *heaptrack, uint64_t size,
			  uint32_t stack, uint32_t *number)
{
	uint32_t written;

	*number = key_pairs_serial(&heaptrack->allocations, size, stack);
	if (*number && *number <= heaptrack->allocation_count)
		return 0;
	if (!*number || heaptrack_put_stack(heaptrack, stack, &written))
		return -ENOMEM;
	fprintf(heaptrack->file, "a %" PRIx64 " %x\n", size, written);
	heaptrack->allocation_count = *number;
	return 0;
}

static void heaptrack_put_time(struct heaptrack *heaptrack, int64_t time)
{
	uint64_t since;

	if (time == HEAP_NO_TIME)
		return;
	if (heaptrack->begin == HEAP_NO_TIME)
		heaptrack->begin = time;
	if (time < heaptrack->begin)
		return;
	since = ((uint64_t)time - (uint64_t)heaptrack->begin) / 1000000;
	if (since <= heaptrack->time)
		return;
	fprintf(heaptrack->file, "c %" PRIx64 "\n", since);
	heaptrack->time = since;
}

/* The reader may learn it late. */
static void put_command(struct heaptrack *heaptrack)
{
	const struct heap_trace *trace = heaptrack->output->trace;
	const char *text = heap_text(trace, trace->command);

	if (heaptrack->command || !*text)
		return;
	fputs("X ", heaptrack->file);
	put_text(heaptrack->file, text);
	heaptrack->command = true;
}

static int heaptrack_begin(struct heap_output *output, void *state,
			   struct error *err)
{
	struct heaptrack *heaptrack = state;

	heaptrack->output = output;
	heaptrack->file = output->file;
	heaptrack->begin = output->trace->begin;
	/* heaptrack_print takes 0 for "none" when it looks for temporaries */
	fprintf(output->file, "v %x %x\na 0 0\n", PROGRAM_VERSION,
		FORMAT_VERSION);
	return 0;
}

/* Only blocks whose allocation is in the file: heaptrack_print takes every
 * release for one of these. */
static bool heaptrack_is_written(const struct heap_block *block)
{
	return block && !block->old;
}

/* A block that came ('+') or went ('-'). */
static int put_block(struct heaptrack *heaptrack, char sign,
		     const struct heap_block *block)
{
	uint32_t number;

	if (!heaptrack_is_written(block))
		return 0;
	if (put_allocation(heaptrack, block->size, block->stack, &number))
		return -ENOMEM;
	fprintf(heaptrack->file, "%c %x\n", sign, number);
	return 0;
}

static void warn_left_out(struct heap_output *output,
			  const struct heap_step *step)
{
	enum heap_kind kind = step->event->kind;

	if (kind == HEAP_OLD)
		heap_output_warn(output,
				 "blocks from before the recording left out");
	else if (step->gone && step->gone->old)
		heap_output_warn(output,
				 "releases of blocks from before left out");
	else if (kind == HEAP_FREE && !step->gone)
		heap_output_warn(output, "releases of unknown blocks left out");
	else if (kind == HEAP_LOSS)
		heap_output_warn(output, "places where events are missing");
}

static int heaptrack_step(struct heap_output *output, void *state,
			  const struct heap_model *model,
			  const struct heap_step *step, struct error *err)
{
	struct heaptrack *heaptrack = state;
	uint32_t pid = step->event->pid;

	put_command(heaptrack);
	warn_left_out(output, step);
	if (!heaptrack_is_written(step->gone) &&
	    !heaptrack_is_written(step->lost) &&
	    !heaptrack_is_written(step->came))
		return 0;
	if (!heaptrack->pid)
		heaptrack->pid = pid;
	if (pid != heaptrack->pid)
		heap_output_warn(output,
				 "events of further processes written as of one");
	if (output->trace->sample)
		heap_output_warn(output,
				 "sampled blocks written without their weights");
	heaptrack_put_time(heaptrack, step->event->time);
	if (put_block(heaptrack, '-', step->gone) ||
	    put_block(heaptrack, '-', step->lost) ||
	    put_block(heaptrack, '+', step->came))
		return error_no_memory(err);
	return 0;
}

static void heaptrack_put_end(struct heaptrack *heaptrack)
{
	const struct heap_trace *trace = heaptrack->output->trace;

	if (trace->page)
		fprintf(heaptrack->file, "I %" PRIx64 " 0\n", trace->page);
	if (trace->lost == HEAP_LOST_UNKNOWN)
		fputs("# events are missing\n", heaptrack->file);
	else if (trace->lost)
		fprintf(heaptrack->file, "# %" PRIu64 " events are missing\n",
			trace->lost);
	heaptrack_put_time(heaptrack, trace->end);
	if (!heaptrack->command)
		fputs("X (unknown)\n", heaptrack->file);
}

static int heaptrack_end(struct heap_output *output, void *state,
			 const struct heap_model *model, bool failed,
			 struct error *err)
{
	struct heaptrack *heaptrack = state;

	if (!failed)
		heaptrack_put_end(heaptrack);
	free(heaptrack->strings.items);
	free(heaptrack->frames.items);
	free(heaptrack->stacks.items);
	key_pairs_free(&heaptrack->allocations);
	return 0;
}

const struct heap_format format_heaptrack = {
	.name = "heaptrack",
	.help = "heaptrack's interpreted data (heaptrack_print, heaptrack_gui)",
	.state_size = sizeof(struct heaptrack),
	.begin = heaptrack_begin,
	.step = heaptrack_step,
	.end = heaptrack_end,
};

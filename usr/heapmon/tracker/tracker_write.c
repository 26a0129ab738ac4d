// SPDX-License-Identifier: GPL-2.0
#include "tracker_read.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "heapmon/core/warn.h"
#include "tracker_parse.h"

#define UNKNOWN		(-1)
/* for the type, the number and OUT_OF_MEMORY after it */
#define TEXT_MAX	(NFMT_STREAM_SIZE - 12)

struct tracker_writer {
	struct heap_output *output;
	struct tracker_form form;
	bool begun, timed;
	uint32_t pid;			/* whose blocks are written */
	struct heap_strings texts;	/* those that were written */
	uint32_t *symbols;		/* by their numbers there; 0: not yet */
	size_t symbol_count, symbol_room;
	uint32_t next;			/* symbol */
};

/* ---- bytes ---- */

static void stream_word_put(const struct tracker_writer *writer, uint32_t word)
{
	if (writer->form.big_endian != TRACKER_HOST_BIG_ENDIAN)
		word = __builtin_bswap32(word);
	fwrite(&word, sizeof(word), 1, writer->output->file);
}

static void stream_pointer_put(const struct tracker_writer *writer,
			       uint64_t pointer)
{
	uint32_t high = pointer >> 32;

	if (writer->form.bits == 32) {
		if (high)
			heap_output_warn(writer->output,
					 "addresses are cut to 32 bits");
		stream_word_put(writer, pointer);
		return;
	}
	stream_word_put(writer, writer->form.big_endian ? high : pointer);
	stream_word_put(writer, writer->form.big_endian ? pointer : high);
}

static void symbol_put(const struct tracker_writer *writer, uint32_t symbol,
		       const char *text)
{
	static const char zeros[4];
	size_t bytes = strlen(text) + 1;

	stream_word_put(writer, NFMT_SYMBOL);
	stream_word_put(writer, symbol);
	fwrite(text, 1, bytes, writer->output->file);
	fwrite(zeros, 1, -bytes % 4, writer->output->file);
}

/* ---- symbols ---- */

/* The symbol of a text, written to the stream when it is new. 0: it is empty, or
 * there is no memory (texts.failed). */
static uint32_t symbol_get(struct tracker_writer *writer, const char *text)
{
	size_t length = strlen(text);
	uint32_t number, symbol;

	if (length >= TEXT_MAX || writer->next + length >= INT32_MAX) {
		heap_output_warn(writer->output,
				 "names that are too long are unknown");
		return UNKNOWN;
	}
	number = heap_strings_add(&writer->texts, text);
	if (!number)
		return 0;
	if (!array_extend(&writer->symbols, &writer->symbol_count,
			  &writer->symbol_room, sizeof(*writer->symbols),
			  number)) {
		writer->texts.failed = true;
		return 0;
	}
	if (writer->symbols[number])
		return writer->symbols[number];
	symbol = writer->next;
	writer->symbols[number] = symbol;
	writer->next += length + 1;
	symbol_put(writer, symbol, text);
	return symbol;
}

static const char *block_tag(const struct heap_trace *trace,
			     const struct heap_event *event)
{
	if (event->tag)
		return heap_text(trace, event->tag);
	return event->kind == HEAP_OLD ? "old" :
					 heap_function_text(event->function);
}

/* The caller, as `text` and line: its source, or else its name and 0. */
static uint32_t block_caller(const struct heap_trace *trace, uint32_t stack,
			     char *text, size_t size)
{
	uint32_t number = stack < trace->stack_count ?
		trace->stacks[stack].frame : 0;
	const struct heap_frame *frame;

	*text = '\0';
	if (!number)
		return 0;
	frame = &trace->frames[number];
	if (frame->stopped)
		return 0;
	if (frame->file && frame->line && frame->line <= INT32_MAX) {
		snprintf(text, size, "%s", heap_text(trace, frame->file));
		return frame->line;
	}
	heap_frame_place(trace, number, text, size);
	return 0;
}

/* ---- records ---- */

static void free_put(struct tracker_writer *writer, uint64_t address)
{
	stream_word_put(writer, NFMT_FREE);
	stream_pointer_put(writer, address);
}

static void malloc_put(struct tracker_writer *writer,
		       const struct heap_event *event)
{
	const struct heap_trace *trace = writer->output->trace;
	char caller[NFMT_STREAM_SIZE];
	uint32_t line = block_caller(trace, event->stack, caller,
				     sizeof(caller));
	uint32_t tag = symbol_get(writer, block_tag(trace, event));
	uint32_t file = symbol_get(writer, caller);
	uint64_t size = event->size;

	if (size > INT32_MAX) {
		heap_output_warn(writer->output,
				 "blocks of 2 GiB and more are 2147483647 bytes");
		size = INT32_MAX;
	}
	stream_word_put(writer, NFMT_MALLOC);
	stream_pointer_put(writer, event->address);
	stream_word_put(writer, size);
	stream_word_put(writer, tag);
	stream_word_put(writer, file);
	stream_word_put(writer, line);
}

/* Is it an event of the process whose stream this is? */
static bool writer_wants(struct tracker_writer *writer,
			 const struct heap_event *event)
{
	if (!writer->timed && event->time != HEAP_NO_TIME) {
		writer->timed = true;
		heap_output_warn(writer->output,
				 "times, threads, types and all callers but the first are left out");
	}
	if (!writer->begun)
		writer->pid = event->pid;
	writer->begun = true;
	if (event->pid == writer->pid)
		return true;
	heap_output_warn(writer->output,
			 "events of other processes than the first are left out; --pid chooses one");
	return false;
}

static void stream_free_step(struct tracker_writer *writer,
			     const struct heap_step *step)
{
	if (step->wrong & HEAP_WRONG_LATE ||
	    (!step->event->address && !step->gone))
		return;
	if (!step->gone && step->wrong & HEAP_WRONG_UNKNOWN)
		heap_output_warn(writer->output,
				 "frees of blocks that were never seen are left out");
	else
		free_put(writer, step->event->address);
}

static void stream_writer_step(struct tracker_writer *writer,
			       const struct heap_step *step)
{
	const struct heap_event *event = step->event;

	switch (event->kind) {
	case HEAP_OLD:
		if (!step->came || step->came->number != step->number)
			return;		/* it is there already */
		heap_output_warn(writer->output,
				 "blocks that were there before are allocations for 'old'");
		malloc_put(writer, event);
		return;
	case HEAP_REALLOC:
		if (step->gone)
			free_put(writer, event->old);
		if (step->came)
			malloc_put(writer, event);
		return;
	case HEAP_ALLOC:
		if (step->came)
			malloc_put(writer, event);
		return;
	case HEAP_FREE:
		stream_free_step(writer, step);
		return;
	default:
		break;
	}
}

static int tracker_step(struct heap_output *output, void *state,
			const struct heap_model *model,
			const struct heap_step *step, struct error *err)
{
	struct tracker_writer *writer = state;
	const struct heap_event *event = step->event;

	switch (event->kind) {
	case HEAP_GROW:
	case HEAP_INTERNAL:
		heap_output_warn(writer->output,
				 "the heap's own memory is left out");
		return 0;
	case HEAP_FORK:
	case HEAP_EXEC:
	case HEAP_EXIT:
		heap_output_warn(writer->output,
				 "beginnings and ends of processes are left out");
		return 0;
	case HEAP_BEGIN:
		return 0;
	case HEAP_LOSS:
		stream_word_put(writer, NFMT_OUT_OF_MEMORY);
		return 0;
	default:
		break;
	}
	if (writer_wants(writer, event))
		stream_writer_step(writer, step);
	return writer->texts.failed ? error_no_memory(err) : 0;
}

static int stream_tracker_begin(struct heap_output *output, void *state,
				struct error *err)
{
	const struct heap_options *options = output->options;
	const struct heap_trace *trace = output->trace;
	struct tracker_writer *writer = state;

	writer->output = output;
	/* what was asked for; else what was recorded */
	writer->form = (struct tracker_form){
		.bits = options->to_bits ? options->to_bits :
			trace->bits == 32 ? 32 : 64,
		.big_endian = options->to_endian ? options->to_endian == 'b' :
						   trace->big_endian,
	};
	writer->next = 1;
	return 0;
}

static int tracker_end(struct heap_output *output, void *state,
		       const struct heap_model *model, bool failed,
		       struct error *err)
{
	struct tracker_writer *writer = state;

	heap_strings_free(&writer->texts);
	free(writer->symbols);
	return 0;
}

const struct heap_format format_tracker = {
	.name = "tracker",
	.words = true,
	.tags = true,
	.help = "memory tracker stream (nfmt)",
	.detect = tracker_detect,
	.read_events = tracker_stream_read,
	.state_size = sizeof(struct tracker_writer),
	.begin = stream_tracker_begin,
	.step = tracker_step,
	.end = tracker_end,
};

// SPDX-License-Identifier: GPL-2.0
/*
 * The memory tracker's stream, in any word size and byte order; rastrace_nfmt.h
 * describes it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace_nfmt.h>
#include "lib/array.h"
#include "heapmon/core/format.h"

#define HOST_BIG_ENDIAN	(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define UNKNOWN		(-1)
/* for the type, the number and OUT_OF_MEMORY after it */
#define TEXT_MAX	(NFMT_STREAM_SIZE - 12)

/* The stream's pointers and byte order. */
struct tracker_form {
	unsigned int bits;
	bool big_endian;
};

struct tracker_record {
	int32_t type;
	uint64_t address;	/* MALLOC, FREE */
	int32_t size, tag, file, line;	/* MALLOC */
	int32_t symbol;		/* SYMBOL */
	const char *text;	/* its text, of `length` bytes and a NUL */
	size_t length;
};

static uint32_t word_order(uint32_t word, const struct tracker_form *form)
{
	return form->big_endian == HOST_BIG_ENDIAN ? word :
						     __builtin_bswap32(word);
}

/* ---- records ---- */

static uint32_t word_get(const uint8_t *p, const struct tracker_form *form)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word_order(word, form);
}

static uint64_t pointer_get(const uint8_t *p, const struct tracker_form *form)
{
	uint64_t first = word_get(p, form), second;

	if (form->bits == 32)
		return first;
	second = word_get(p + 4, form);
	return form->big_endian ? first << 32 | second : second << 32 | first;
}

static int64_t stream_parse_symbol(const uint8_t *p, size_t left,
				   const struct tracker_form *form,
				   struct tracker_record *record)
{
	const char *text = (const char *)p + 8;
	size_t room = left - 8, used;
	const char *end = memchr(text, 0, room);

	if (!end)
		return room < NFMT_STREAM_SIZE ? 0 : -EBADMSG;
	record->symbol = word_get(p + 4, form);
	record->text = text;
	record->length = end - text;
	used = (record->length + 1 + 3) / 4 * 4;
	if (used > NFMT_STREAM_SIZE)
		return -EBADMSG;
	return used <= room ? 8 + (int64_t)used : 0;
}

/* Read the record at `at`. Its bytes; 0: it is cut, -EBADMSG: there is none. */
static int64_t stream_parse(const uint8_t *data, size_t size, size_t at,
			    const struct tracker_form *form,
			    struct tracker_record *record)
{
	const uint8_t *p = data + at;
	size_t left = size - at, pointer = form->bits / 8;

	if (left < 4)
		return 0;
	record->type = word_get(p, form);
	switch (record->type) {
	case NFMT_MALLOC:
		if (left < 4 + pointer + 16)
			return 0;
		record->address = pointer_get(p + 4, form);
		p += 4 + pointer;
		record->size = word_get(p, form);
		record->tag = word_get(p + 4, form);
		record->file = word_get(p + 8, form);
		record->line = word_get(p + 12, form);
		return 4 + pointer + 16;
	case NFMT_FREE:
		if (left < 4 + pointer)
			return 0;
		record->address = pointer_get(p + 4, form);
		return 4 + pointer;
	case NFMT_SYMBOL:
		return left < 8 ? 0
				: stream_parse_symbol(p, left, form, record);
	case NFMT_OUT_OF_MEMORY:
		return 4;
	}
	return -EBADMSG;
}

/* ---- which form? ---- */

/* The symbols so far: they ascend by the lengths of their texts, so all that
 * can be are below `next`. */
struct trial {
	int32_t next;
	bool any;		/* an address that isn't 0, or a symbol */
};

static bool trial_symbol_known(const struct trial *trial, int32_t symbol)
{
	return symbol >= -1 && (symbol <= 0 || symbol < trial->next);
}

static bool trial_accept(struct trial *trial,
			 const struct tracker_record *record)
{
	switch (record->type) {
	case NFMT_SYMBOL:
		for (size_t i = record->length + 1; i % 4; i++)
			if (record->text[i])
				return false;
		if (record->symbol < 0 ||
		    (record->symbol > 1 && record->symbol != trial->next))
			return false;
		/* symbol 0 is nothing but "" */
		if (!record->symbol && record->length)
			return false;
		if (record->length >= (size_t)(INT32_MAX - record->symbol))
			return false;
		trial->any = true;
		trial->next = record->symbol + record->length + 1;
		return true;
	case NFMT_MALLOC:
		if (!trial_symbol_known(trial, record->tag) ||
		    !trial_symbol_known(trial, record->file))
			return false;
		/* fall through */
	case NFMT_FREE:
		trial->any |= record->address != 0;
		return true;
	default:
		return true;
	}
}

static size_t form_try(const uint8_t *data, size_t size,
		       const struct tracker_form *form, bool *whole)
{
	struct trial trial = { .next = 1 };
	struct tracker_record record;
	size_t at = 0;
	int64_t used;

	while ((used = stream_parse(data, size, at, form, &record)) > 0 &&
	       trial_accept(&trial, &record))
		at += used;
	*whole = !used;
	/* zeros make sense in any form */
	return trial.any ? at : 0;
}

/*
 * The form in which most of the stream makes sense, among those that `options`
 * allow. Is there nothing else but the beginning of a last record?
 */
static bool tracker_form_find(const uint8_t *data, size_t size,
			      const struct heap_options *options,
			      struct tracker_form *form)
{
	static const struct tracker_form forms[] = {
		{ 64, false }, { 32, false }, { 64, true }, { 32, true },
	};
	bool found = false, whole = false;
	size_t most = 0;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		bool all;
		size_t good;

		if ((options->bits && options->bits != forms[i].bits) ||
		    (options->endian &&
		     (options->endian == 'b') != forms[i].big_endian))
			continue;
		good = form_try(data, size, &forms[i], &all);
		if (found && (good < most || (good == most && all <= whole)))
			continue;
		found = true;
		most = good;
		whole = all;
		*form = forms[i];
	}
	return most && whole;
}

/* It has no magic number, so all of it must make sense. */
static int tracker_detect(const uint8_t *data, size_t size)
{
	static const struct heap_options any;
	struct tracker_form form;

	return tracker_form_find(data, size, &any, &form);
}

/* ---- reading ---- */

struct stream_symbol {
	uint64_t number;	/* ascending */
	uint32_t string;
};

struct tracker_reader {
	struct heap_input *input;
	const struct heap_sink *sink;
	struct stream_symbol *symbols;
	size_t count, room;
};

static int symbol_define(struct tracker_reader *reader,
			 const struct tracker_record *record, struct error *err)
{
	struct heap_trace *trace = reader->input->trace;
	struct stream_symbol symbol = {
		.number = record->symbol,
		.string = heap_strings_add_length(&trace->strings,
						  record->text, record->length),
	};

	if (record->symbol >= 0 && record->symbol <= 1)
		reader->count = 0;	/* the program started anew */
	if (record->symbol < 0 ||
	    (reader->count && reader->symbols[reader->count - 1].number >=
	     symbol.number))
		return error_set(err, -EBADMSG,
				 "symbol %" PRId32 " is out of order",
				 record->symbol);
	if (!array_grow(&reader->symbols, reader->count, &reader->room,
			sizeof(symbol)))
		return error_no_memory(err);
	reader->symbols[reader->count++] = symbol;
	return 0;
}

static uint32_t symbol_string(const struct tracker_reader *reader,
			      int32_t number)
{
	size_t at;

	if (number <= 0)
		return 0;
	at = array_count_upto(reader->symbols, reader->count,
			      sizeof(*reader->symbols), number);
	if (at && reader->symbols[at - 1].number == (uint64_t)number)
		return reader->symbols[at - 1].string;
	heap_input_warn(reader->input,
			"symbol %" PRId32 " is used but not defined", number);
	reader->input->trace->damaged++;
	return 0;
}

/* The caller: without a line it is known by its symbol. Each system that
 * allocates there has a frame of its own. */
static void read_malloc(struct tracker_reader *reader,
			const struct tracker_record *record,
			struct heap_event *event)
{
	struct heap_trace *trace = reader->input->trace;
	uint32_t tag = symbol_string(reader, record->tag);
	uint32_t file = symbol_string(reader, record->file);
	struct heap_frame frame = { .tag = tag };

	event->kind = HEAP_ALLOC;
	event->address = record->address;
	event->size = (uint32_t)record->size;
	event->function = heap_function_find(heap_text(trace, tag));
	if (!event->function)
		event->tag = tag;
	trace->tagged |= tag != 0;
	if (!file && !tag)
		return;
	if (record->line > 0) {
		frame.line = record->line;
		frame.file = file;
	} else {
		frame.symbol = file;
	}
	event->stack = heap_trace_stack(trace, 0,
					heap_trace_frame(trace, &frame));
}

static int read_record(struct tracker_reader *reader,
		       const struct tracker_record *record, struct error *err)
{
	struct heap_event event = { .time = HEAP_NO_TIME };

	switch (record->type) {
	case NFMT_MALLOC:
		read_malloc(reader, record, &event);
		break;
	case NFMT_FREE:
		event.kind = HEAP_FREE;
		event.address = record->address;
		break;
	case NFMT_SYMBOL:
		return symbol_define(reader, record, err);
	default:
		event.kind = HEAP_LOSS;
		event.lost = HEAP_LOST_UNKNOWN;
		reader->input->trace->lost = HEAP_LOST_UNKNOWN;
	}
	return heap_sink_take(reader->sink, &event, err);
}

static int read_records(struct tracker_reader *reader,
			const struct tracker_form *form, struct error *err)
{
	const struct heap_input *input = reader->input;
	struct tracker_record record;
	int64_t used;
	size_t at = 0;
	int code;

	while ((used = stream_parse(input->data, input->size, at, form,
				    &record)) > 0) {
		code = read_record(reader, &record, err);
		if (code == -EBADMSG)
			input->trace->damaged++;
		if (code)
			return code;
		at += used;
	}
	if (input->trace->failed)
		return error_no_memory(err);
	if (at == input->size)
		return 0;
	input->trace->damaged++;
	if (used)
		return error_set(err, -EBADMSG,
				 "no record at byte %zu of a memory tracker "
				 "stream of %u bits", at, form->bits);
	return error_set(err, -EBADMSG,
			 "the record at byte %zu is cut", at);
}

static int tracker_stream_read(struct heap_input *input,
			       const struct heap_sink *sink, struct error *err)
{
	struct tracker_reader reader = { .input = input, .sink = sink };
	struct tracker_form form;
	int code;

	tracker_form_find(input->data, input->size, input->options, &form);
	input->trace->bits = form.bits;
	input->trace->big_endian = form.big_endian;
	input->trace->no_time = true;
	code = read_records(&reader, &form, err);
	free(reader.symbols);
	return code;
}

/* ---- writing ---- */

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

static void stream_word_put(const struct tracker_writer *writer, uint32_t word)
{
	word = word_order(word, &writer->form);
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

/* The symbol of a text, written to the stream when it is new. 0: it is empty, or
 * there is no memory (texts.failed). */
static uint32_t symbol_put(struct tracker_writer *writer, const char *text)
{
	static const char zeros[4];
	size_t length = strlen(text);
	uint32_t number, *symbol;

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
	symbol = &writer->symbols[number];
	if (!*symbol) {
		*symbol = writer->next;
		writer->next += length + 1;
		stream_word_put(writer, NFMT_SYMBOL);
		stream_word_put(writer, *symbol);
		fwrite(text, 1, length + 1, writer->output->file);
		fwrite(zeros, 1, -(length + 1) % 4, writer->output->file);
	}
	return *symbol;
}

/* The caller, as `text` and line: its source, or else its name and 0. */
static uint32_t block_caller(const struct heap_trace *trace, uint32_t stack,
			     char *text, size_t size)
{
	uint32_t number = stack < trace->stack_count ?
		trace->stacks[stack].frame : 0;
	const struct heap_frame *frame = &trace->frames[number];

	*text = '\0';
	if (!number || frame->stopped)
		return 0;
	if (frame->file && frame->line && frame->line <= INT32_MAX) {
		snprintf(text, size, "%s", heap_text(trace, frame->file));
		return frame->line;
	}
	heap_frame_place(trace, number, text, size);
	return 0;
}

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
	uint32_t tag = symbol_put(writer,
				  event->tag ? heap_text(trace, event->tag) :
				  event->kind == HEAP_OLD ? "old" :
				  heap_function_text(event->function));
	uint32_t file = symbol_put(writer, caller);
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

static void block_write(struct tracker_writer *writer,
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
		/* fall through */
	case HEAP_ALLOC:
		if (step->came)
			malloc_put(writer, event);
		return;
	default:	/* HEAP_FREE */
		if (step->wrong & HEAP_WRONG_LATE ||
		    (!event->address && !step->gone))
			return;
		if (!step->gone && step->wrong & HEAP_WRONG_UNKNOWN)
			heap_output_warn(writer->output,
					 "frees of blocks that were never seen are left out");
		else
			free_put(writer, event->address);
	}
}

static int tracker_step(struct heap_output *output, void *state,
			const struct heap_model *model,
			const struct heap_step *step, struct error *err)
{
	struct tracker_writer *writer = state;

	switch (step->event->kind) {
	case HEAP_GROW:
	case HEAP_INTERNAL:
		heap_output_warn(output, "the heap's own memory is left out");
		return 0;
	case HEAP_FORK:
	case HEAP_EXEC:
	case HEAP_EXIT:
		heap_output_warn(output,
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
	if (writer_wants(writer, step->event))
		block_write(writer, step);
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

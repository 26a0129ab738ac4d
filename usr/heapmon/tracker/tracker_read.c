// SPDX-License-Identifier: GPL-2.0
#include "tracker_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "heapmon/core/warn.h"
#include "tracker_parse.h"

struct stream_symbol {
	uint64_t number;	/* ascending */
	uint32_t string;
};

struct tracker_reader {
	struct heap_input *input;
	const struct heap_sink *sink;
	struct stream_symbol *symbols;
	size_t count, room;
	uint32_t recent_tag, recent_file, recent_line, recent_stack;
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
static uint32_t caller_stack(struct tracker_reader *reader, uint32_t tag,
			     uint32_t file, uint32_t line)
{
	struct heap_trace *trace = reader->input->trace;
	struct heap_frame frame = { .line = line, .tag = tag };

	if (!file && !tag)
		return 0;
	if (reader->recent_stack && reader->recent_tag == tag &&
	    reader->recent_file == file && reader->recent_line == line)
		return reader->recent_stack;
	if (line)
		frame.file = file;
	else
		frame.symbol = file;
	reader->recent_tag = tag;
	reader->recent_file = file;
	reader->recent_line = line;
	reader->recent_stack =
		heap_trace_stack(trace, 0, heap_trace_frame(trace, &frame));
	return reader->recent_stack;
}

static int read_malloc(struct tracker_reader *reader,
		       const struct tracker_record *record, struct error *err)
{
	uint32_t tag = symbol_string(reader, record->tag);
	struct heap_event event = {
		.kind = HEAP_ALLOC, .time = HEAP_NO_TIME,
		.address = record->address, .size = (uint32_t)record->size,
		.function = heap_function_find(
			heap_text(reader->input->trace, tag)),
	};

	if (!event.function)
		event.tag = tag;
	reader->input->trace->tagged |= tag != 0;
	event.stack = caller_stack(reader, tag,
				   symbol_string(reader, record->file),
				   record->line < 0 ? 0 : record->line);
	return heap_sink_take(reader->sink, &event, err);
}

static int read_record(struct tracker_reader *reader,
		       const struct tracker_record *record, struct error *err)
{
	struct heap_event event = { .time = HEAP_NO_TIME };

	switch (record->type) {
	case NFMT_MALLOC:
		return read_malloc(reader, record, err);
	case NFMT_FREE:
		event.kind = HEAP_FREE;
		event.address = record->address;
		return heap_sink_take(reader->sink, &event, err);
	case NFMT_SYMBOL:
		return symbol_define(reader, record, err);
	}
	event.kind = HEAP_LOSS;
	event.lost = HEAP_LOST_UNKNOWN;
	reader->input->trace->lost = HEAP_LOST_UNKNOWN;
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

	while ((used = tracker_stream_parse(input->data, input->size, at, form,
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

int tracker_detect(const uint8_t *data, size_t size)
{
	static const struct heap_options any;
	struct tracker_form form;
	bool whole;

	return tracker_stream_form(data, size, &any, &form, &whole) && whole;
}

int tracker_stream_read(struct heap_input *input, const struct heap_sink *sink,
			struct error *err)
{
	struct tracker_reader reader = { .input = input, .sink = sink };
	struct tracker_form form;
	bool whole;
	int code;

	tracker_stream_form(input->data, input->size, input->options, &form,
			    &whole);
	input->trace->bits = form.bits;
	input->trace->big_endian = form.big_endian;
	input->trace->no_time = true;
	code = read_records(&reader, &form, err);
	free(reader.symbols);
	return code;
}

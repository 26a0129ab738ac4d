// SPDX-License-Identifier: GPL-2.0
#include "mtrc_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "heapmon/core/warn.h"
#include "bytes.h"

#define SLOTS	128	/* 7 bits; slot 0 is not used */

/* The block of an index. */
struct mtrc_block {
	uint64_t address;
	bool live;
};

struct mtrc_name_cache {
	uint32_t names[SLOTS];
	bool defined[SLOTS];
};

/* Errors in the file, in the order of the texts. */
enum mtrc_complaint {
	UNKNOWN_INDEX, FREED_INDEX, LIVE_INDEX, UNDEFINED_SLOT, LONG_THREAD,
	MTRC_COMPLAINTS,
};

static const char *const complaint_texts[MTRC_COMPLAINTS] = {
	"a block was resized or freed whose index the file doesn't know",
	"a block was resized or freed that was freed already",
	"an index was allocated twice without being freed",
	"a name was used from a slot that nothing was put in",
	"of a thread id only the lower 32 bits are taken",
};

struct mtrc_reader {
	struct heap_input *input;
	struct mpatrol_cursor cursor;
	uint64_t version;
	struct mtrc_name_cache functions, files;
	struct key_map numbers;		/* of blocks, by index */
	struct mtrc_block *blocks;	/* from 1 */
	size_t block_count, block_room;
	uint64_t complaints[MTRC_COMPLAINTS];
};

/* ---- blocks by index ---- */

/* Found, or made as one that doesn't live. NULL: no memory. */
static struct mtrc_block *block_get(struct mtrc_reader *reader, uint64_t index)
{
	uint32_t number = key_map_serial(&reader->numbers, index);

	return number && array_extend(&reader->blocks, &reader->block_count,
				      &reader->block_room,
				      sizeof(*reader->blocks), number) ?
	       &reader->blocks[number] : NULL;
}

/* ---- parts of a record ---- */

static uint32_t mtrc_string_read(struct mtrc_reader *reader)
{
	struct mpatrol_cursor *cursor = &reader->cursor;
	size_t begin = cursor->at;

	while (mpatrol_byte(cursor))
		;
	return heap_strings_add_length(&reader->input->trace->strings,
				       (const char *)cursor->data + begin,
				       cursor->at - begin);
}

static uint32_t name_read(struct mtrc_reader *reader,
			  struct mtrc_name_cache *cache)
{
	uint8_t byte = mpatrol_byte(&reader->cursor);
	uint8_t slot = byte & 0x7f;

	if (byte & 0x80) {
		cache->names[slot] = mtrc_string_read(reader);
		cache->defined[slot] = true;
	} else if (slot && !cache->defined[slot] && !reader->cursor.wrong) {
		reader->complaints[UNDEFINED_SLOT]++;
	}
	return slot ? cache->names[slot] : 0;
}

/* Thread, function, file, line. */
static void mtrc_source_read(struct mtrc_reader *reader,
			     struct heap_event *event)
{
	struct heap_trace *trace = reader->input->trace;
	struct heap_frame frame = { 0 };
	uint64_t thread, line;

	if (reader->version < MTRC_SOURCES)
		return;
	thread = mpatrol_leb128(&reader->cursor);
	if (thread > UINT32_MAX)
		reader->complaints[LONG_THREAD]++;
	event->tid = thread;
	frame.symbol = name_read(reader, &reader->functions);
	frame.file = name_read(reader, &reader->files);
	line = mpatrol_leb128(&reader->cursor);
	frame.line = line <= UINT32_MAX ? line : 0;
	if (frame.symbol || frame.file)
		event->stack = heap_trace_stack(trace, 0,
					heap_trace_frame(trace, &frame));
}

/* ---- records ---- */

static int allocated(struct mtrc_reader *reader, struct heap_event *event)
{
	struct mtrc_block *block = block_get(reader, event->index);

	if (!block)
		return -ENOMEM;
	if (block->live && reader->version < MTRC_RESIZES) {
		event->kind = HEAP_REALLOC;
		event->old = block->address;
	} else if (block->live) {
		reader->complaints[LIVE_INDEX]++;
	}
	block->address = event->address;
	block->live = true;
	return 0;
}

/* The block that goes; NULL: there is none. */
static struct mtrc_block *block_going(struct mtrc_reader *reader,
				      const struct heap_event *event)
{
	uint32_t number = key_map_number(&reader->numbers, event->index);
	struct mtrc_block *block = number ? &reader->blocks[number] : NULL;

	if (block && block->live)
		return block;
	reader->complaints[block ? FREED_INDEX : UNKNOWN_INDEX]++;
	return NULL;
}

static int resized(struct mtrc_reader *reader, struct heap_event *event)
{
	struct mtrc_block *block = block_going(reader, event);

	if (block)
		event->old = block->address;
	else
		block = block_get(reader, event->index);
	if (!block)
		return -ENOMEM;
	block->address = event->address;
	block->live = true;
	return 0;
}

static void freed(struct mtrc_reader *reader, struct heap_event *event)
{
	struct mtrc_block *block = block_going(reader, event);

	if (!block)
		return;
	event->address = block->address;
	block->live = false;
}

static bool kind_find(char letter, enum heap_kind *kind)
{
	switch (letter) {
	case 'A': *kind = HEAP_ALLOC; return true;
	case 'R': *kind = HEAP_REALLOC; return true;
	case 'F': *kind = HEAP_FREE; return true;
	case 'H': *kind = HEAP_GROW; return true;
	case 'I': *kind = HEAP_INTERNAL; return true;
	default: return false;
	}
}

static int event_complete(struct mtrc_reader *reader, struct heap_event *event)
{
	switch (event->kind) {
	case HEAP_ALLOC: return allocated(reader, event);
	case HEAP_REALLOC: return resized(reader, event);
	case HEAP_FREE: freed(reader, event); return 0;
	default: return 0;
	}
}

/* All records up to the first letter that is none's, as the trailer's. */
static int records_read(struct mtrc_reader *reader,
			const struct heap_sink *sink, struct error *err)
{
	struct mpatrol_cursor *cursor = &reader->cursor;
	int ret;
	bool indexed;

	while (mpatrol_left(cursor)) {
		struct heap_event event = { .time = HEAP_NO_TIME };
		size_t begin = cursor->at;

		if (!kind_find(cursor->data[begin], &event.kind))
			return 0;
		cursor->at++;
		indexed =
			event.kind != HEAP_GROW && event.kind != HEAP_INTERNAL;
		if (indexed)
			event.index = mpatrol_leb128(cursor);
		if (event.kind != HEAP_FREE) {
			event.address = mpatrol_leb128(cursor);
			event.size = mpatrol_leb128(cursor);
		}
		if (indexed)
			mtrc_source_read(reader, &event);
		if (cursor->wrong) {
			cursor->at = begin;
			return mpatrol_damaged(cursor, reader->input,
					       "a record is not whole", err);
		}
		if (event_complete(reader, &event) ||
		    reader->input->trace->failed)
			return error_no_memory(err);
		ret = heap_sink_take(sink, &event, err);
		if (ret)
			return ret;
	}
	return 0;
}

int mtrc_detect(const uint8_t *data, size_t size)
{
	return size >= 4 && !memcmp(data, MTRC_MAGIC, 4) ? 2 : 0;
}

int mtrc_read_events(struct heap_input *input, const struct heap_sink *sink,
		     struct error *err)
{
	struct mtrc_reader reader = { .input = input };
	int ret = mpatrol_open(&reader.cursor, input, MTRC_MAGIC,
			       &reader.version, err);

	if (ret)
		return ret;
	mpatrol_version_check(input, reader.version);
	input->trace->no_stack = reader.version < MTRC_SOURCES;
	ret = records_read(&reader, sink, err);
	if (!ret && !mpatrol_magic(&reader.cursor, MTRC_MAGIC))
		ret = mpatrol_damaged(&reader.cursor, input,
				      mpatrol_left(&reader.cursor) ?
				      "an unknown record" :
				      "no trailer", err);
	heap_input_warn_counts(input, complaint_texts,
			       reader.complaints, MTRC_COMPLAINTS);
	key_map_free(&reader.numbers);
	free(reader.blocks);
	return ret;
}

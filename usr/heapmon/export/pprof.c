// SPDX-License-Identifier: GPL-2.0
/*
 * pprof's profile.proto, compressed by gzip. Field numbers are those of the
 * proto. A location is a frame, by the frame's number.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "lib/array.h"
#include "lib/formats/bytes.h"
#include "lib/key_map.h"
#include "heapmon/core/format.h"

#define WIRE_NUMBER	0
#define WIRE_BYTES	2

/* Of a repeated field that is packed: without its number. */
static void protobuf_number(struct bytes *message, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[n++] = 0x80 | (value & 0x7f);
	bytes[n++] = value;
	bytes_add(message, bytes, n);
}

static void put_key(struct bytes *message, unsigned int field,
		    unsigned int wire)
{
	protobuf_number(message, field << 3 | wire);
}

static void protobuf_field(struct bytes *message, unsigned int field,
			   uint64_t value)
{
	if (!value)
		return;
	put_key(message, field, WIRE_NUMBER);
	protobuf_number(message, value);
}

/* Numbers of the fields from 1 on. */
#define PUT_FIELDS(message, ...) do {					\
	const uint64_t fields[] = { __VA_ARGS__ };			\
	for (size_t n = 0; n < sizeof(fields) / sizeof(*fields); n++)	\
		protobuf_field(message, n + 1, fields[n]);		\
} while (0)

static void protobuf_bytes(struct bytes *message, unsigned int field,
			   const void *data, size_t size)
{
	put_key(message, field, WIRE_BYTES);
	protobuf_number(message, size);
	bytes_add(message, data, size);
}

/* Put `inner` into it, and empty that for the next one. */
static void protobuf_message(struct bytes *message, unsigned int field,
			     struct bytes *inner)
{
	if (inner->failed)
		message->failed = true;
	if (inner->size)
		protobuf_bytes(message, field, inner->data, inner->size);
	inner->size = 0;
}

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING,
	PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING,
	PROFILE_TIME = 9, PROFILE_DURATION, PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_DEFAULT_TYPE,
};

enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
#define LOCATION_LINE	4

/* Strings of the file itself, in front of the trace's. */
enum {
	TEXT_NONE, TEXT_ALLOC_OBJECTS, TEXT_COUNT, TEXT_ALLOC_SPACE, TEXT_BYTES,
	TEXT_INUSE_OBJECTS, TEXT_INUSE_SPACE, TEXT_SPACE, TEXT_UNKNOWN,
	TEXT_TAG, TEXTS
};

static const char *const texts[TEXTS] = {
	"", "alloc_objects", "count", "alloc_space", "bytes",
	"inuse_objects", "inuse_space", "space", "(unknown)", "tag",
};

/* A module where it was mapped. */
struct mapping {
	uint32_t module;
	uint64_t start, limit;
	bool bare;		/* of some place nothing but the address is
				 * known */
};

struct pprof {
	struct heap_output *output;
	const struct heap_trace *trace;
	z_stream stream;
	struct bytes whole, part, inner;
	uint32_t *string_at;	/* by the trace's string: its number here */
	uint32_t strings;
	uint32_t *mapping_of;	/* by frame; 0: none */
	bool *used;		/* by frame */
	struct mapping *mappings;	/* from 1 */
	size_t mapping_count, mapping_room;
	struct key_pairs mapping_numbers;	/* by start and module */
	struct key_map functions;	/* numbers, by symbol and file */
	uint32_t function_count;
	bool failed;		/* no memory */
};

/* ---- the file ---- */

/* Compress what is there, and with `flush` Z_FINISH the end. */
static void write_out(struct pprof *pprof, int flush)
{
	z_stream *stream = &pprof->stream;
	uint8_t bytes[16384];

	stream->next_in = pprof->whole.data;
	stream->avail_in = pprof->whole.size;
	do {
		stream->next_out = bytes;
		stream->avail_out = sizeof(bytes);
		deflate(stream, flush);
		fwrite(bytes, 1, sizeof(bytes) - stream->avail_out,
		       pprof->output->file);
	} while (!stream->avail_out);
	pprof->whole.size = 0;
}

static void write_part(struct pprof *pprof, enum profile_field field)
{
	protobuf_message(&pprof->whole, field, &pprof->part);
	if (pprof->whole.size >= 65536)
		write_out(pprof, Z_NO_FLUSH);
}

static uint32_t write_text(struct pprof *pprof, const char *text)
{
	protobuf_bytes(&pprof->whole, PROFILE_STRING, text, strlen(text));
	return pprof->strings++;
}

static uint32_t write_string(struct pprof *pprof, uint32_t string)
{
	if (!string)
		return TEXT_NONE;
	if (!pprof->string_at[string])
		pprof->string_at[string] =
			write_text(pprof, heap_text(pprof->trace, string));
	return pprof->string_at[string];
}

static void write_type(struct pprof *pprof, enum profile_field field,
		       uint32_t type, uint32_t unit)
{
	PUT_FIELDS(&pprof->part, type, unit);
	write_part(pprof, field);
}

__attribute__((format(printf, 2, 3)))
static void write_comment(struct pprof *pprof, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	protobuf_field(&pprof->whole, PROFILE_COMMENT,
		       write_text(pprof, text));
}

static void write_head(struct pprof *pprof)
{
	const struct heap_trace *trace = pprof->trace;

	for (size_t i = 0; i < TEXTS; i++)
		write_text(pprof, texts[i]);
	write_type(pprof, PROFILE_SAMPLE_TYPE, TEXT_ALLOC_OBJECTS, TEXT_COUNT);
	write_type(pprof, PROFILE_SAMPLE_TYPE, TEXT_ALLOC_SPACE, TEXT_BYTES);
	write_type(pprof, PROFILE_SAMPLE_TYPE, TEXT_INUSE_OBJECTS, TEXT_COUNT);
	write_type(pprof, PROFILE_SAMPLE_TYPE, TEXT_INUSE_SPACE, TEXT_BYTES);
	write_type(pprof, PROFILE_PERIOD_TYPE, TEXT_SPACE, TEXT_BYTES);
	protobuf_field(&pprof->whole, PROFILE_PERIOD,
		       trace->sample ? trace->sample : 1);
	protobuf_field(&pprof->whole, PROFILE_DEFAULT_TYPE, TEXT_INUSE_SPACE);
	if (trace->begin != HEAP_NO_TIME)
		protobuf_field(&pprof->whole, PROFILE_TIME, trace->begin);
	if (trace->begin != HEAP_NO_TIME && trace->end > trace->begin)
		protobuf_field(&pprof->whole, PROFILE_DURATION,
			       (uint64_t)trace->end - (uint64_t)trace->begin);
	if (trace->command)
		protobuf_field(&pprof->whole, PROFILE_COMMENT,
			       write_string(pprof, trace->command));
	if (trace->lost == HEAP_LOST_UNKNOWN)
		write_comment(pprof, "events are missing");
	else if (trace->lost)
		write_comment(pprof, "%" PRIu64 " events are missing",
			      trace->lost);
	if (trace->min_size)
		write_comment(pprof, "blocks below %" PRIu64
			      " bytes were not recorded", trace->min_size);
	if (trace->sample)
		write_comment(pprof, "a sample of the blocks, one in each %"
			      PRIu64 " bytes, by the weights of its blocks",
			      trace->sample);
}

/* ---- frames ---- */

static void mapping_add_frame(struct pprof *pprof, uint32_t number)
{
	const struct heap_frame *frame = &pprof->trace->frames[number];
	uint64_t start = frame->address - frame->module_offset;
	uint32_t id;
	struct mapping *mapping;

	if (!frame->module || frame->module_offset > frame->address)
		return;
	id = key_pairs_serial(&pprof->mapping_numbers, start, frame->module);
	if (!id || !array_extend(&pprof->mappings, &pprof->mapping_count,
				 &pprof->mapping_room, sizeof(*mapping), id)) {
		pprof->failed = true;
		return;
	}
	pprof->mapping_of[number] = id;
	mapping = &pprof->mappings[id];
	mapping->module = frame->module;
	mapping->start = start;
	if (frame->address >= mapping->limit)
		mapping->limit = frame->address + 1;
	if (!frame->symbol)
		mapping->bare = true;
}

/* Its number, from 1: 1 is the unknown one; 0: no memory. */
static uint32_t function_number(struct pprof *pprof, uint32_t symbol,
				uint32_t file)
{
	uint32_t number = key_map_serial(&pprof->functions,
					 (uint64_t)symbol << 32 | file);
	uint32_t name, source;

	if (number <= pprof->function_count) {
		pprof->failed |= !number;
		return number;
	}
	pprof->function_count = number;
	source = write_string(pprof, file);
	name = symbol ? write_string(pprof, symbol) : TEXT_UNKNOWN;
	PUT_FIELDS(&pprof->part, number, name, name, source);
	write_part(pprof, PROFILE_FUNCTION);
	return number;
}

static void write_location(struct pprof *pprof, uint32_t number)
{
	const struct heap_frame *frame = &pprof->trace->frames[number];
	bool named = frame->symbol || frame->file || !frame->address;
	uint32_t function = named ? function_number(pprof, frame->symbol,
						    frame->file) : 0;

	PUT_FIELDS(&pprof->inner, function, frame->line);
	/* in the call, not after it */
	PUT_FIELDS(&pprof->part, number, pprof->mapping_of[number],
		   frame->address ? frame->address - 1 : 0);
	protobuf_message(&pprof->part, LOCATION_LINE, &pprof->inner);
	write_part(pprof, PROFILE_LOCATION);
}

/* ---- samples ---- */

static void write_sample(struct pprof *pprof, const struct heap_site *site,
			 const struct heap_weighted *sums)
{
	const struct heap_stack *stacks = pprof->trace->stacks;
	uint32_t tag = heap_stack_tag(pprof->trace, site->stack);

	for (uint32_t at = site->stack; at; at = stacks[at].parent) {
		protobuf_number(&pprof->inner, stacks[at].frame);
		pprof->used[stacks[at].frame] = true;
	}
	if (!site->stack)
		protobuf_number(&pprof->inner, pprof->trace->frame_count + 1);
	protobuf_message(&pprof->part, SAMPLE_LOCATION, &pprof->inner);
	protobuf_number(&pprof->inner, heap_rounded(sums->allocs));
	protobuf_number(&pprof->inner, heap_rounded(sums->alloc_bytes));
	protobuf_number(&pprof->inner,
			heap_rounded(sums->allocs - sums->frees));
	protobuf_number(&pprof->inner,
			heap_rounded(sums->alloc_bytes - sums->free_bytes));
	protobuf_message(&pprof->part, SAMPLE_VALUE, &pprof->inner);
	if (tag) {
		PUT_FIELDS(&pprof->inner, TEXT_TAG, write_string(pprof, tag));
		protobuf_message(&pprof->part, SAMPLE_LABEL, &pprof->inner);
	}
	write_part(pprof, PROFILE_SAMPLE);
}

static bool pprof_open(struct pprof *pprof)
{
	const struct heap_trace *trace = pprof->trace;

	pprof->string_at = calloc(trace->strings.count + 1,
				  sizeof(*pprof->string_at));
	pprof->mapping_of = calloc(trace->frame_count + 1,
				   sizeof(*pprof->mapping_of));
	pprof->used = calloc(trace->frame_count + 1, sizeof(*pprof->used));
	return pprof->string_at && pprof->mapping_of && pprof->used &&
	       deflateInit2(&pprof->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			    MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
}

static void pprof_warn(struct heap_output *output, uint64_t count,
		       const char *what)
{
	char text[128];

	if (!count)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " %s", count, what);
	heap_output_warn(output, text);
}

static void write_profile(struct pprof *pprof,
			  const struct heap_profile *profile)
{
	size_t frames = pprof->trace->frame_count;

	write_head(pprof);
	for (size_t i = 0; i < profile->site_count; i++) {
		struct heap_weighted sums;

		heap_site_weighted(profile, &profile->sites[i], &sums);
		if (sums.allocs)
			write_sample(pprof, &profile->sites[i], &sums);
	}
	for (size_t i = 1; i < frames; i++)
		if (pprof->used[i])
			mapping_add_frame(pprof, i);
	/* id, start, limit, offset, file, build-id; has_functions ... keep pprof
	 * from symbols of its own: where some are missing, it may look. */
	for (size_t i = 1; i < pprof->mapping_count; i++) {
		const struct mapping *mapping = &pprof->mappings[i];
		bool known = !mapping->bare;

		PUT_FIELDS(&pprof->part, i, mapping->start, mapping->limit,
			   0, write_string(pprof, mapping->module), 0, known,
			   known, known);
		write_part(pprof, PROFILE_MAPPING);
	}
	for (size_t i = 1; i < frames; i++)
		if (pprof->used[i])
			write_location(pprof, i);
	/* Where no callers are known; its number is after those of all frames. */
	PUT_FIELDS(&pprof->inner, function_number(pprof, 0, 0));
	PUT_FIELDS(&pprof->part, frames + 1);
	protobuf_message(&pprof->part, LOCATION_LINE, &pprof->inner);
	write_part(pprof, PROFILE_LOCATION);
	write_out(pprof, Z_FINISH);
}

static int pprof_write(struct heap_output *output,
		       const struct heap_profile *profile,
		       const struct heap_model *model, struct error *err)
{
	struct pprof pprof = { .output = output, .trace = profile->trace };
	bool failed = !pprof_open(&pprof);

	if (!failed) {
		write_profile(&pprof, profile);
		failed = pprof.failed || pprof.whole.failed;
	}
	deflateEnd(&pprof.stream);
	bytes_free(&pprof.whole);
	bytes_free(&pprof.part);
	bytes_free(&pprof.inner);
	key_pairs_free(&pprof.mapping_numbers);
	key_map_free(&pprof.functions);
	free(pprof.string_at);
	free(pprof.mapping_of);
	free(pprof.used);
	free(pprof.mappings);
	if (failed)
		return error_no_memory(err);
	pprof_warn(output, model->old.count,
		   "blocks from before the recording left out");
	pprof_warn(output, model->unknown.count,
		   "releases of blocks that were never seen left out");
	return 0;
}

const struct heap_format format_pprof = {
	.name = "pprof",
	.tags = true,
	.help = "pprof's protocol buffer (go tool pprof)",
	.write_profile = pprof_write,
};

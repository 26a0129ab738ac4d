// SPDX-License-Identifier: GPL-2.0
#include "trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/hash.h"
#include "lib/path.h"
#include "lib/text.h"

uint32_t heap_strings_add(struct heap_strings *strings, const char *text)
{
	return heap_strings_add_length(strings, text, strlen(text));
}

uint32_t heap_strings_add_length(struct heap_strings *strings,
				 const char *text, size_t length)
{
	size_t count = strings->count ? strings->count : 1, step = 0;
	uint32_t number;
	uint64_t hash;
	char *copy;

	length = strnlen(text, length);
	if (!length)
		return 0;
	hash = hash_fnv(HASH_FNV_START, text, length);
	while ((number = key_map_each_number(&strings->numbers, hash, &step)))
		if (!strncmp(strings->items[number], text, length) &&
		    !strings->items[number][length])
			return number;
	copy = strndup(text, length);
	if (!copy || key_map_reserve(&strings->numbers) ||
	    !array_extend(&strings->items, &strings->count, &strings->room,
			  sizeof(*strings->items), count)) {
		free(copy);
		strings->failed = true;
		return 0;
	}
	key_map_add_number(&strings->numbers, hash, count);
	strings->items[count] = copy;
	return count;
}

const char *heap_strings_get(const struct heap_strings *strings,
			     uint32_t number)
{
	return number && number < strings->count ? strings->items[number] : "";
}

void heap_strings_free(struct heap_strings *strings)
{
	for (size_t i = 1; i < strings->count; i++)
		free(strings->items[i]);
	free(strings->items);
	key_map_free(&strings->numbers);
	*strings = (struct heap_strings){ 0 };
}

#define PLAIN_MOST	2048	/* bytes of a name */

void heap_trace_init(struct heap_trace *trace)
{
	*trace = (struct heap_trace){
		.begin = HEAP_NO_TIME, .end = HEAP_NO_TIME,
	};
}

void heap_trace_free(struct heap_trace *trace)
{
	heap_strings_free(&trace->strings);
	key_map_free(&trace->frame_numbers);
	key_map_free(&trace->stack_numbers);
	free(trace->frames);
	free(trace->stacks);
	heap_trace_init(trace);
}

/* ---- frames and stacks ---- */

uint32_t heap_trace_frame(struct heap_trace *trace,
			  const struct heap_frame *frame)
{
	size_t count = trace->frame_count ? trace->frame_count : 1, step = 0;
	uint64_t words[sizeof(*frame) / sizeof(uint64_t)], hash = 0;
	uint32_t number;

	memcpy(words, frame, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		hash = key_map_mix(hash, words[i]);
	while ((number = key_map_each_number(&trace->frame_numbers, hash,
					     &step)))
		if (!memcmp(&trace->frames[number], frame, sizeof(*frame)))
			return number;
	if (key_map_reserve(&trace->frame_numbers) ||
	    !array_extend(&trace->frames, &trace->frame_count,
			  &trace->frame_room, sizeof(*frame), count)) {
		trace->failed = true;
		return 0;
	}
	key_map_add_number(&trace->frame_numbers, hash, count);
	trace->frames[count] = *frame;
	return count;
}

uint32_t heap_trace_stack(struct heap_trace *trace, uint32_t parent,
			  uint32_t frame)
{
	uint32_t number = key_map_serial(&trace->stack_numbers,
					 (uint64_t)parent << 32 | frame);

	if (number && number < trace->stack_count)
		return number;
	if (!number || !array_extend(&trace->stacks, &trace->stack_count,
				     &trace->stack_room,
				     sizeof(*trace->stacks), number)) {
		trace->failed = true;
		return 0;
	}
	trace->stacks[number] = (struct heap_stack){
		.parent = parent, .frame = frame,
		.depth = trace->stacks[parent].depth + 1,
	};
	return number;
}

/* ---- text ---- */

/* The last part of a path, or all of one that ends in a slash. */
static const char *trace_base_name(const char *path)
{
	const char *base = path_base(path);

	return *base ? base : path;
}

/* Known by nothing but its line of the source. */
static bool frame_is_line(const struct heap_frame *frame)
{
	return frame->file && !frame->symbol && !frame->module &&
	       !frame->address;
}

static void trace_frame_name(const struct heap_trace *trace,
			     const struct heap_frame *frame, char *text,
			     size_t size)
{
	if (frame->symbol)
		snprintf(text, size, "%s", heap_text(trace, frame->symbol));
	else if (frame->module)
		snprintf(text, size, "%s+0x%" PRIx64,
			 trace_base_name(heap_text(trace, frame->module)),
			 frame->module_offset);
	else if (frame_is_line(frame))
		snprintf(text, size, "%s:%u",
			 trace_base_name(heap_text(trace, frame->file)),
			 frame->line);
	else if (frame->address || !frame->tag)
		snprintf(text, size, "0x%" PRIx64, frame->address);
	else
		*text = '\0';
}

void heap_frame_place(const struct heap_trace *trace, uint32_t frame,
		      char *text, size_t size)
{
	if (frame && frame < trace->frame_count)
		trace_frame_name(trace, &trace->frames[frame], text, size);
	else
		snprintf(text, size, "%s", "");
}

__attribute__((format(printf, 3, 4)))
static void text_append(char *text, size_t size, const char *fmt, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + used, size - used, fmt, args);
	va_end(args);
}

static void tag_append(const struct heap_trace *trace, uint32_t tag, char *text,
		       size_t size)
{
	if (tag)
		text_append(text, size, "%s[%s]", *text ? " " : "",
			    heap_text(trace, tag));
}

void heap_frame_name(const struct heap_trace *trace, uint32_t frame,
		     char *text, size_t size)
{
	heap_frame_place(trace, frame, text, size);
	if (frame && frame < trace->frame_count)
		tag_append(trace, trace->frames[frame].tag, text, size);
}

void heap_frame_print(const struct heap_trace *trace, uint32_t number,
		      char *text, size_t size)
{
	const struct heap_frame *frame;
	char plain[PLAIN_MOST];
	char safe[4 * PLAIN_MOST + 1];

	if (!size)
		return;
	*text = '\0';
	if (!number || number >= trace->frame_count)
		return;
	frame = &trace->frames[number];
	trace_frame_name(trace, frame, plain, sizeof(plain));
	if (frame->symbol && frame->offset)
		text_append(plain, sizeof(plain), "+0x%" PRIx64, frame->offset);
	if (frame->file && !frame_is_line(frame))
		text_append(plain, sizeof(plain), " %s",
			    trace_base_name(heap_text(trace, frame->file)));
	if (frame->file && frame->line && !frame_is_line(frame))
		text_append(plain, sizeof(plain), ":%u", frame->line);
	if (frame->module && frame->symbol)
		text_append(plain, sizeof(plain), " (%s)",
			    trace_base_name(heap_text(trace, frame->module)));
	tag_append(trace, frame->tag, plain, sizeof(plain));

	/* As much of it as is safe and has room; from: below PLAIN_MOST bytes.
	 */
	*safe_text_put(safe, plain, strlen(plain), false) = '\0';
	snprintf(text, size, "%s", safe);
}

double heap_trace_weight(const struct heap_trace *trace, uint64_t size)
{
	if (!trace->sample)
		return 1;
	return -1 / expm1(-(double)(size ? size : 1) / trace->sample);
}

void heap_trace_widen(struct heap_trace *trace, int64_t time)
{
	if (time == HEAP_NO_TIME)
		return;
	if (trace->begin == HEAP_NO_TIME || time < trace->begin)
		trace->begin = time;
	if (trace->end == HEAP_NO_TIME || time > trace->end)
		trace->end = time;
}

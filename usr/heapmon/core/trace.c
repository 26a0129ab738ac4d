// SPDX-License-Identifier: GPL-2.0
#include "trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/safe_text.h"

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
	heap_table_free(&trace->frame_table);
	heap_table_free(&trace->stack_table);
	free(trace->frames);
	free(trace->stacks);
	heap_trace_init(trace);
}

/* ---- frames and stacks ---- */

static uint32_t frame_hash(const struct heap_frame *frame)
{
	uint64_t hash = heap_hash(HEAP_HASH_START, frame->address);

	hash = heap_hash(hash, frame->module_offset);
	hash = heap_hash(hash, frame->offset);
	hash = heap_hash(hash, (uint64_t)frame->module << 32 | frame->symbol);
	hash = heap_hash(hash, (uint64_t)frame->file << 32 | frame->line);
	return heap_hash(hash, (uint64_t)frame->tag << 32 | frame->stopped);
}

static bool frame_same(const struct heap_frame *a, const struct heap_frame *b)
{
	return a->address == b->address && a->offset == b->offset &&
	       a->module_offset == b->module_offset &&
	       a->module == b->module && a->symbol == b->symbol &&
	       a->file == b->file && a->line == b->line &&
	       a->tag == b->tag && a->stopped == b->stopped;
}

/* Room for one more in the array, whose item 0 stands for nothing, and in its
 * table. */
static bool trace_grow(struct heap_trace *trace, void *array, size_t *count,
		       size_t *room, size_t size, struct heap_table *table)
{
	void *first;

	if (!heap_table_grow(table) ||
	    !array_grow(array, *count ? *count : 1, room, size)) {
		trace->failed = true;
		return false;
	}
	if (*count)
		return true;
	memcpy(&first, array, sizeof(first));
	memset(first, 0, size);
	*count = 1;
	return true;
}

uint32_t heap_trace_frame(struct heap_trace *trace,
			  const struct heap_frame *frame)
{
	uint32_t hash = frame_hash(frame);
	struct heap_slot *slot;
	size_t at = hash;

	if (!trace_grow(trace, &trace->frames, &trace->frame_count,
			&trace->frame_room, sizeof(*frame),
			&trace->frame_table))
		return 0;
	while ((slot = heap_table_find(&trace->frame_table, hash,
				       &at))->number) {
		if (frame_same(&trace->frames[slot->number], frame))
			return slot->number;
		at++;
	}
	heap_table_set(&trace->frame_table, slot, hash, trace->frame_count);
	trace->frames[trace->frame_count] = *frame;
	return trace->frame_count++;
}

uint32_t heap_trace_stack(struct heap_trace *trace, uint32_t parent,
			  uint32_t frame)
{
	uint32_t hash = heap_hash(HEAP_HASH_START,
				  (uint64_t)parent << 32 | frame);
	struct heap_slot *slot;
	size_t at = hash;

	if (!trace_grow(trace, &trace->stacks, &trace->stack_count,
			&trace->stack_room, sizeof(*trace->stacks),
			&trace->stack_table))
		return 0;
	while ((slot = heap_table_find(&trace->stack_table, hash,
				       &at))->number) {
		const struct heap_stack *stack = &trace->stacks[slot->number];

		if (stack->parent == parent && stack->frame == frame)
			return slot->number;
		at++;
	}
	heap_table_set(&trace->stack_table, slot, hash, trace->stack_count);
	trace->stacks[trace->stack_count] = (struct heap_stack){
		.parent = parent, .frame = frame,
		.depth = trace->stacks[parent].depth + 1,
	};
	return trace->stack_count++;
}

/* ---- text ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Known by nothing but its line of the source. */
static bool frame_is_line(const struct heap_frame *frame)
{
	return frame->file && !frame->symbol && !frame->module &&
	       !frame->address;
}

static void frame_name(const struct heap_trace *trace,
		       const struct heap_frame *frame, char *text, size_t size)
{
	if (frame->symbol)
		snprintf(text, size, "%s", heap_text(trace, frame->symbol));
	else if (frame->module)
		snprintf(text, size, "%s+0x%" PRIx64,
			 base_name(heap_text(trace, frame->module)),
			 frame->module_offset);
	else if (frame_is_line(frame))
		snprintf(text, size, "%s:%u",
			 base_name(heap_text(trace, frame->file)), frame->line);
	else if (frame->address || !frame->tag)
		snprintf(text, size, "0x%" PRIx64, frame->address);
	else
		*text = '\0';
}

void heap_frame_place(const struct heap_trace *trace, uint32_t frame,
		      char *text, size_t size)
{
	if (frame && frame < trace->frame_count)
		frame_name(trace, &trace->frames[frame], text, size);
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

/* As much of it as is safe and has room; from: below PLAIN_MOST bytes. */
static void text_make_safe(const char *from, char *text, size_t size)
{
	char safe[4 * PLAIN_MOST + 1];

	*safe_text_put(safe, from, strlen(from), false) = '\0';
	snprintf(text, size, "%s", safe);
}

void heap_frame_print(const struct heap_trace *trace, uint32_t number,
		      char *text, size_t size)
{
	const struct heap_frame *frame;
	char plain[PLAIN_MOST];

	if (!size)
		return;
	*text = '\0';
	if (!number || number >= trace->frame_count)
		return;
	frame = &trace->frames[number];
	frame_name(trace, frame, plain, sizeof(plain));
	if (frame->symbol && frame->offset)
		text_append(plain, sizeof(plain), "+0x%" PRIx64, frame->offset);
	if (frame->file && !frame_is_line(frame))
		text_append(plain, sizeof(plain), " %s",
			    base_name(heap_text(trace, frame->file)));
	if (frame->file && frame->line && !frame_is_line(frame))
		text_append(plain, sizeof(plain), ":%u", frame->line);
	if (frame->module && frame->symbol)
		text_append(plain, sizeof(plain), " (%s)",
			    base_name(heap_text(trace, frame->module)));
	tag_append(trace, frame->tag, plain, sizeof(plain));
	text_make_safe(plain, text, size);
}

double heap_trace_weight(const struct heap_trace *trace, uint64_t size)
{
	if (!trace->sample)
		return 1;
	return -1 / expm1(-(double)(size ? size : 1) / trace->sample);
}

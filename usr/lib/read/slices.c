// SPDX-License-Identifier: GPL-2.0
#include "slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "chunk_read.h"

#define FETCHED_MAX	(1ull << 30)	/* bytes: no more is unpacked then */

typedef unsigned long long ull;

static uint64_t slice_key(uint32_t cpu, uint32_t level)
{
	return (uint64_t)level << 32 | cpu;
}

/* Found or made; NULL: no memory. */
static struct trace_slice *slice_get(struct slices *s, uint32_t cpu,
				     uint32_t level)
{
	uint64_t key = slice_key(cpu, level);
	struct trace_slice *slice = key_map_find(&s->places, key);

	if (slice)
		return slice;
	slice = calloc(1, sizeof(*slice));
	if (!slice ||
	    !array_grow(&s->items, s->count, &s->room, sizeof(*s->items)) ||
	    key_map_add(&s->places, key, slice)) {
		free(slice);
		return NULL;
	}
	slice->cpu = cpu;
	slice->level = level;
	slice->index = s->count;
	s->items[s->count++] = slice;
	return slice;
}

/* ---- adding chunks ---- */

/* Bounds and bytes of records, as the chunk's beginning says. */
static bool place_parse(const struct source_bytes *bytes,
			uint64_t length, struct ras_slice_copy *copy,
			uint64_t *records)
{
	const struct ras_chunk *chunk = (const void *)bytes->data;
	const uint8_t *p = (const void *)(chunk + 1);
	size_t have = bytes->size - sizeof(*chunk);
	struct ras_packed packed;

	if (chunk->kind == RAS_CHUNK_PACKED) {
		if (have < sizeof(packed))
			return false;
		memcpy(&packed, p, sizeof(packed));
		p += sizeof(packed);
		have -= sizeof(packed);
		if (packed.plain != sizeof(*copy) ||
		    packed.length < packed.plain)
			return false;
		length = packed.length;
	}
	if (have < sizeof(*copy) || length < sizeof(*copy))
		return false;
	memcpy(copy, p, sizeof(*copy));
	*records = length - sizeof(*copy);
	return true;
}

static void bounds_check(struct slices *s, struct ras_slice_copy *copy,
			 uint64_t records)
{
	uint64_t size = copy->head - copy->first;

	if (copy->head < copy->first) {
		damage_add(s->damage, "slice of CPU %u: wrong bounds",
			   copy->cpu);
		copy->head = copy->first;
	} else if (size > records) {
		damage_add(s->damage, "%llu bytes at the end of CPU %u's slice",
			   (ull)(size - records), copy->cpu);
	}
}

static bool chunks_grow(struct trace_slice *slice)
{
	size_t room = slice->chunk_room ? 2 * slice->chunk_room : 1;
	void *chunks = reallocarray(slice->chunks, room,
				    sizeof(*slice->chunks));

	if (!chunks)
		return false;
	slice->chunks = chunks;
	slice->chunk_room = room;
	return true;
}

/* Room for one more, in the first place of those that have been read: a pipe
 * may have no end. */
static struct slice_chunk *slice_chunk_room(struct trace_slice *slice)
{
	size_t at = slice->chunk_at, left = slice->chunk_count - at;

	if (slice->chunk_count == slice->chunk_room && at > left) {
		memmove(slice->chunks, slice->chunks + at,
			left * sizeof(*slice->chunks));
		slice->chunk_at = 0;
		slice->chunk_count = left;
	}
	if (slice->chunk_count == slice->chunk_room && !chunks_grow(slice))
		return NULL;
	return &slice->chunks[slice->chunk_count];
}

int slices_add(struct slices *s, uint64_t offset, uint64_t length,
	       struct source_bytes *bytes)
{
	struct slice_chunk added = {
		.head = *(const struct ras_chunk *)bytes->data,
		.offset = offset, .length = length,
	};
	struct trace_slice *slice;
	struct slice_chunk *chunk;
	uint64_t records;

	if (!place_parse(bytes, length, &added.copy, &records)) {
		damage_add(s->damage, "a slice of %llu bytes", (ull)length);
		return 0;
	}
	bounds_check(s, &added.copy, records);
	slice = slice_get(s, added.copy.cpu, added.copy.level);
	chunk = slice ? slice_chunk_room(slice) : NULL;
	if (!chunk)
		return -ENOMEM;
	if (bytes->owned) {
		added.bytes = *bytes;
		s->held += bytes->size;
		bytes->owned = NULL;
	}
	*chunk = added;
	s->pending++;
	slice->chunk_count++;
	if (slice->dropped < added.copy.dropped)
		slice->dropped = added.copy.dropped;
	return 0;
}

void slices_begin(struct slices *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct trace_slice *slice = s->items[i];

		slice->dropped_base = slice->dropped;
		if (!slice->chunk_count)
			continue;
		slice->begun = true;
		slice->position =
			slice->chunks[slice->chunk_count - 1].copy.head;
	}
}

/* The position after the slice's records, as far as they are there. */
static uint64_t slice_end(const struct trace_slice *slice)
{
	const struct slice_chunk *last;
	uint64_t size;

	if (!slice->chunk_count)
		return 0;
	last = &slice->chunks[slice->chunk_count - 1];
	size = last->copy.head - last->copy.first;
	if (last->head.kind != RAS_CHUNK_PACKED &&
	    size > last->length - sizeof(last->copy))
		size = last->length - sizeof(last->copy);
	return last->copy.first + size;
}

static void slice_pass(struct trace_slice *slice, uint64_t end)
{
	for (size_t i = 0; i < slice->chunk_count; i++) {
		struct slice_chunk *c = &slice->chunks[i];
		uint64_t size = c->copy.head - c->copy.first;

		if (c->copy.first + c->skip >= end)
			continue;
		c->skip = end - c->copy.first;
		c->skip = c->skip < size ? c->skip : size;
		c->passed = c->skip == size;
	}
	if (slice->position < end)
		slice->position = end;
	slice->begun = true;
}

void slices_pass(struct slices *s, const struct slices *other)
{
	for (size_t i = 0; i < other->count; i++) {
		const struct trace_slice *theirs = other->items[i];
		struct trace_slice *ours =
			key_map_find(&s->places,
				     slice_key(theirs->cpu, theirs->level));

		if (ours)
			slice_pass(ours, slice_end(theirs));
	}
}

static void slice_free(struct trace_slice *slice)
{
	for (size_t i = slice->chunk_at; i < slice->chunk_count; i++)
		free(slice->chunks[i].bytes.owned);
	free(slice->chunks);
	window_free(&slice->window);
	free(slice);
}

void slices_free(struct slices *s)
{
	for (size_t i = 0; i < s->count; i++)
		slice_free(s->items[i]);
	free(s->items);
	key_map_free(&s->places);
	*s = (struct slices){ 0 };
}

/* ---- reading them ---- */

/* Bytes of a slice's chunk that are held at a time. */
static size_t window_room(const struct slices *s, uint64_t length)
{
	size_t all = s->budget ? s->budget : WINDOW_ALL;
	size_t room = all / s->count / WINDOW_LEAST * WINDOW_LEAST;

	room = room < WINDOW_LEAST ? WINDOW_LEAST : room;
	if (length <= room && length <= WINDOW_ONCE)
		return length;
	return room < WINDOW_MOST ? room : WINDOW_MOST;
}

/* The payload, whose beginning has been looked at. */
static void window_cut(struct source_window *window,
		       const struct slice_chunk *c)
{
	uint64_t size = c->copy.head - c->copy.first;

	window->data += sizeof(c->copy);
	window->size -= sizeof(c->copy);
	if (window->size > size)
		window->size = size;
	size = window->size < c->skip ? window->size : c->skip;
	window->data += size;
	window->size -= size;
}

static bool load_fails(struct slices *s, const struct slice_chunk *c, int code)
{
	if (code == -ENOMEM)
		s->damage->exhausted = true;
	else
		damage_add(s->damage, "the chunk at offset %llu can't be read",
			   (ull)c->offset);
	return false;
}

/* Records of a packed chunk with that payload. */
static bool chunk_expand(struct slices *s, struct trace_slice *slice,
			 const struct slice_chunk *c, const void *payload)
{
	struct chunk_place place = { c->offset, c->length };
	struct source_bytes bytes = { 0 };

	if (s->fetched > FETCHED_MAX) {
		damage_add(s->damage, "the packed chunk at offset %llu: too much is unpacked already",
			   (ull)place.offset);
		return false;
	}
	bytes.owned = chunk_read_expand(payload, place, &bytes.size, s->damage);
	if (!bytes.owned)
		return false;
	bytes.data = bytes.owned;
	if (bytes.size < sizeof(c->copy)) {	/* the file has changed */
		free(bytes.owned);
		return load_fails(s, c, 0);
	}
	slice->owned_size = bytes.size;
	window_set(&slice->window, &bytes);
	return true;
}

/* Of a chunk that is in memory: its payload is at bytes->data. */
static bool chunk_load_memory(struct slices *s, struct trace_slice *slice,
			      struct slice_chunk *c, struct source_bytes *bytes)
{
	struct chunk_place place = { c->offset, c->length };
	bool done;

	slice->damaged = chunk_read_damaged(&c->head, bytes->data, place,
					    s->damage);
	if (c->head.kind == RAS_CHUNK_PACKED) {
		done = chunk_expand(s, slice, c, bytes->data);
		free(bytes->owned);
		return done;
	}
	slice->owned_size = bytes->owned ? bytes->size : 0;
	window_set(&slice->window, bytes);
	return true;
}

/* Of a chunk that is small enough to be read at once. */
static bool chunk_load_once(struct slices *s, struct trace_slice *slice,
			    const struct slice_chunk *c)
{
	struct chunk_place place = { c->offset, c->length };

	window_open(&slice->window, c->offset + sizeof(c->head), c->length);
	if (!window_fill(&slice->window, s->source, 0, c->length))
		return load_fails(s, c, slice->window.exhausted ? -ENOMEM : 0);
	slice->damaged = chunk_read_damaged(&c->head, slice->window.data,
					    place, s->damage);
	return true;
}

/* Of one that isn't: its checksum comes first, because records are marked that
 * come from a damaged one. */
static void chunk_load_parts(struct slices *s, struct trace_slice *slice,
			     const struct slice_chunk *c)
{
	struct chunk_place place = { c->offset, c->length };
	uint64_t front = sizeof(c->head) + sizeof(c->copy);
	uint64_t size = c->copy.head - c->copy.first;
	uint64_t left = c->length - sizeof(c->copy);

	left = left < size ? left : size;
	slice->damaged = chunk_read_damaged_file(&c->head, place, s->source,
						 s->damage);
	window_open(&slice->window, c->offset + front + c->skip,
		    left > c->skip ? left - c->skip : 0);
}

static bool chunk_load_packed(struct slices *s, struct trace_slice *slice,
			      struct slice_chunk *c)
{
	struct source_bytes bytes;
	int code = c->length > 2ull * RAS_PACKED_MAX
			   ? -EFBIG
			   : trace_source_read(s->source,
					       c->offset + sizeof(c->head),
					       c->length, &bytes);

	if (code)
		return load_fails(s, c, code);
	if (bytes.size < c->length) {
		free(bytes.owned);
		return load_fails(s, c, 0);
	}
	return chunk_load_memory(s, slice, c, &bytes);
}

/* The chunk's records, or the first of them, in the window. */
static bool chunk_load(struct slices *s, struct trace_slice *slice,
		       struct slice_chunk *c)
{
	struct source_bytes bytes = c->bytes;

	c->bytes.owned = NULL;
	s->held -= bytes.size;
	if (!bytes.data && s->source->data)
		bytes.data = s->source->data + c->offset;
	if (bytes.data) {
		bytes.data += sizeof(c->head);
		bytes.size = c->length;
		if (!chunk_load_memory(s, slice, c, &bytes))
			return false;
	} else if (c->head.kind == RAS_CHUNK_PACKED) {
		if (!chunk_load_packed(s, slice, c))
			return false;
	} else if (window_room(s, c->length) < c->length) {
		chunk_load_parts(s, slice, c);
		return true;
	} else if (!chunk_load_once(s, slice, c)) {
		return false;
	}
	window_cut(&slice->window, c);
	return true;
}

/* Does it go on where the last one ended? */
static void chunk_follow(struct slices *s, struct trace_slice *slice,
			 const struct slice_chunk *c)
{
	uint64_t first = c->copy.first + c->skip;

	if (!slice->begun) {
		slice->wrapped = first;
		slice->hole = slice->wrapped;
		s->gaps += slice->wrapped;
		slice->oldest_due = true;
	} else if (first > slice->position) {
		slice->gaps++;
		slice->hole = true;
		s->gaps++;
		slice->oldest_due = true;
	} else if (first < slice->position && !c->passed) {
		damage_add(s->damage,
			   "CPU %u's slice goes back from position %llu to %llu",
			   slice->cpu, (ull)slice->position, (ull)first);
	}
	slice->begun = true;
	if (!c->passed)
		slice->position = c->copy.head;
}

/* Go to the next chunk; false: there is none. */
static bool slice_advance(struct slices *s, struct trace_slice *slice)
{
	static const struct source_bytes nothing;
	struct slice_chunk *c;

	s->fetched -= slice->owned_size;
	slice->owned_size = 0;
	if (slice->chunk_at)
		trace_source_forget(
			s->source, slice->chunks[slice->chunk_at - 1].offset,
			sizeof(struct ras_chunk) +
				slice->chunks[slice->chunk_at - 1].length);
	slice->at = 0;
	slice->damaged = false;
	if (slice->chunk_at == slice->chunk_count) {
		/* of a pipe the list begins anew */
		slice->chunk_at = slice->chunk_count = slice->chunk_room = 0;
		free(slice->chunks);
		slice->chunks = NULL;
		window_set(&slice->window, &nothing);
		return false;
	}
	c = &slice->chunks[slice->chunk_at++];
	s->pending--;
	chunk_follow(s, slice, c);
	slice->first = c->copy.first + c->skip;
	if (c->passed || !chunk_load(s, slice, c))
		window_set(&slice->window, &nothing);
	s->fetched += slice->owned_size;
	return true;
}

/* More of the chunk, after what is there. */
static void slice_fill(struct slices *s, struct trace_slice *slice)
{
	struct source_window *window = &slice->window;
	uint64_t offset = window->offset;

	if (!window_fill(window, s->source, slice->at,
			 window_room(s, UINT64_MAX))) {
		s->damage->exhausted |= window->exhausted;
		damage_add(s->damage, "what is at offset %llu can't be read",
			   (ull)offset);
	}
	slice->first += slice->at;
	slice->at = 0;
}

static const struct ras_record *chunk_search(struct slices *s,
					     struct trace_slice *slice,
					     uint64_t key)
{
	const struct source_window *window = &slice->window;

	for (;;) {
		size_t left = window->size - slice->at, step;

		if (left < RAS_RECORD_MAX && window->left) {
			slice_fill(s, slice);
			continue;
		}
		if (left >= RAS_RECORD_HEADER && slice_has_record(slice, key))
			return slice_take(slice);
		if (!left)
			return NULL;
		step = left < 8 ? left : 8;
		if (!slice->lost)
			slice->lost_at = slice->first + slice->at;
		slice->lost += step;
		slice->hole = true;
		slice->at += step;
	}
}

const struct ras_record *slices_search(struct slices *s,
				       struct trace_slice *slice, uint64_t key)
{
	const struct ras_record *record;

	while (!(record = chunk_search(s, slice, key)))
		if (!slice_advance(s, slice))
			return NULL;
	if (slice->hole && record->time > s->lost_until)
		s->lost_until = record->time;
	slice->hole = false;
	return record;
}

/* ---- the whole ---- */

bool slices_recover_key(struct slices *s, __u64 *key)
{
	for (size_t i = 0; i < s->count; i++) {
		struct trace_slice *slice = s->items[i];
		uint64_t stamp;

		while (!slice->window.size && slice_advance(s, slice))
			if (slice->window.left)
				slice_fill(s, slice);
		if (slice->damaged || slice->window.size < RAS_RECORD_HEADER)
			continue;
		memcpy(&stamp, slice->window.data, sizeof(stamp));
		*key = stamp ^ slice->first;
		return true;
	}
	return false;
}

void slices_finish(struct slices *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct trace_slice *slice = s->items[i];

		if (slice->lost)
			damage_add(s->damage,
				   "%llu bytes of CPU %u's slice, the first at position %llu",
				   (ull)slice->lost, slice->cpu,
				   (ull)slice->lost_at);
	}
}

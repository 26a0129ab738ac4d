// SPDX-License-Identifier: GPL-2.0
#include "slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "chunk_read.h"

#define TABLE_START	64		/* a power of two */
#define FETCHED_MAX	(1ull << 30)	/* bytes: no more is unpacked then */

typedef unsigned long long ull;

/* ---- the table ---- */

static uint32_t *table_place(const struct slices *s, uint32_t cpu,
			     uint32_t level)
{
	uint64_t key = (uint64_t)level << 32 | cpu;
	size_t at = key * 0x9e3779b97f4a7c15ULL >> 32;

	for (;; at++) {
		uint32_t *place = &s->table[at & (s->table_size - 1)];

		if (!*place || (s->items[*place - 1]->cpu == cpu &&
				s->items[*place - 1]->level == level))
			return place;
	}
}

static int table_grow(struct slices *s)
{
	size_t size = s->table_size ? 2 * s->table_size : TABLE_START;
	uint32_t *table = calloc(size, sizeof(*table));
	void *items = reallocarray(s->items, size, sizeof(*s->items));

	if (items)
		s->items = items;
	if (!table || !items) {
		free(table);
		return -ENOMEM;
	}
	free(s->table);
	s->table = table;
	s->table_size = size;
	for (size_t i = 0; i < s->count; i++)
		*table_place(s, s->items[i]->cpu, s->items[i]->level) = i + 1;
	return 0;
}

/* Found or made; NULL: no memory. */
static struct trace_slice *slice_get(struct slices *s, uint32_t cpu,
				     uint32_t level)
{
	struct trace_slice *slice;
	uint32_t *place;

	if (2 * s->count >= s->table_size && table_grow(s))
		return NULL;
	place = table_place(s, cpu, level);
	if (*place)
		return s->items[*place - 1];
	slice = calloc(1, sizeof(*slice));
	if (!slice)
		return NULL;
	slice->cpu = cpu;
	slice->level = level;
	slice->index = s->count;
	s->items[s->count++] = slice;
	*place = s->count;
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
static struct slice_chunk *chunk_room(struct trace_slice *slice)
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
	struct slice_chunk added = { .offset = offset, .length = length };
	struct trace_slice *slice;
	struct slice_chunk *chunk;
	uint64_t records;

	if (!place_parse(bytes, length, &added.copy, &records)) {
		damage_add(s->damage, "a slice of %llu bytes", (ull)length);
		return 0;
	}
	bounds_check(s, &added.copy, records);
	slice = slice_get(s, added.copy.cpu, added.copy.level);
	chunk = slice ? chunk_room(slice) : NULL;
	if (!chunk)
		return -ENOMEM;
	if (s->source->pipe) {
		added.bytes = *bytes;
		bytes->owned = NULL;
	}
	*chunk = added;
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

static void slice_free(struct trace_slice *slice)
{
	for (size_t i = slice->chunk_at; i < slice->chunk_count; i++)
		free(slice->chunks[i].bytes.owned);
	free(slice->chunks);
	free(slice->owned);
	free(slice->done);
	free(slice);
}

void slices_free(struct slices *s)
{
	for (size_t i = 0; i < s->count; i++)
		slice_free(s->items[i]);
	free(s->items);
	free(s->table);
	*s = (struct slices){ 0 };
}

/* ---- reading them ---- */

/* Records of a packed chunk, in place of it. */
static bool bytes_expand(struct slices *s, struct source_bytes *bytes,
			 struct chunk_place place)
{
	const struct ras_chunk *chunk = (const void *)bytes->data;
	size_t size = 0;
	void *expanded;

	if (s->fetched > FETCHED_MAX) {
		damage_add(s->damage, "the packed chunk at offset %llu: too much is unpacked already",
			   (ull)place.offset);
		return false;
	}
	expanded = chunk_read_expand(chunk, place, &size, s->damage);
	if (!expanded)
		return false;
	free(bytes->owned);
	*bytes = (struct source_bytes){ expanded, size, expanded };
	return true;
}

/* The chunk's payload. */
static bool chunk_load(struct slices *s, struct trace_slice *slice,
		       struct slice_chunk *c, struct source_bytes *bytes)
{
	struct chunk_place place = { c->offset, c->length };
	const struct ras_chunk *chunk;

	*bytes = c->bytes;
	c->bytes.owned = NULL;
	if (!bytes->data &&
	    (source_read(s->source, c->offset, sizeof(*chunk) + c->length,
			 bytes) || bytes->size < sizeof(*chunk) + c->length)) {
		damage_add(s->damage, "the chunk at offset %llu can't be read",
			   (ull)c->offset);
		return false;
	}
	chunk = (const void *)bytes->data;
	slice->damaged = chunk_read_damaged(chunk, place, s->damage);
	if (chunk->kind == RAS_CHUNK_PACKED)
		return bytes_expand(s, bytes, place);
	bytes->data += sizeof(*chunk);
	bytes->size -= sizeof(*chunk);
	return true;
}

/* Does it go on where the last one ended? */
static void chunk_follow(struct slices *s, struct trace_slice *slice,
			 const struct ras_slice_copy *copy)
{
	if (!slice->begun) {
		slice->wrapped = copy->first;
		slice->oldest_due = true;
	} else if (copy->first > slice->position) {
		slice->gaps++;
		slice->oldest_due = true;
	} else if (copy->first < slice->position) {
		damage_add(s->damage,
			   "CPU %u's slice goes back from position %llu to %llu",
			   slice->cpu, (ull)slice->position, (ull)copy->first);
	}
	slice->begun = true;
	slice->position = copy->head;
}

static void chunk_leave(struct slices *s, struct trace_slice *slice)
{
	s->fetched -= slice->owned_size;
	slice->owned_size = 0;
	if (slice->taken) {
		free(slice->done);
		slice->done = slice->owned;
	} else {
		free(slice->owned);
	}
	slice->taken = false;
	slice->owned = NULL;
	slice->data = NULL;
	slice->size = slice->at = 0;
}

/* Go to the next chunk; false: there is none. */
static bool slice_advance(struct slices *s, struct trace_slice *slice)
{
	struct source_bytes bytes;
	struct slice_chunk *c;
	uint64_t size;

	chunk_leave(s, slice);
	if (slice->chunk_at == slice->chunk_count) {
		/* of a pipe the list begins anew */
		slice->chunk_at = slice->chunk_count = slice->chunk_room = 0;
		free(slice->chunks);
		slice->chunks = NULL;
		return false;
	}
	c = &slice->chunks[slice->chunk_at++];
	chunk_follow(s, slice, &c->copy);
	if (!chunk_load(s, slice, c, &bytes) ||
	    bytes.size < sizeof(c->copy)) {
		free(bytes.owned);
		return true;
	}
	size = c->copy.head - c->copy.first;
	slice->data = bytes.data + sizeof(c->copy);
	slice->size = bytes.size - sizeof(c->copy);
	if (slice->size > size)
		slice->size = size;
	slice->first = c->copy.first;
	slice->owned = bytes.owned;
	slice->owned_size = slice->owned ? bytes.size : 0;
	s->fetched += slice->owned_size;
	return true;
}

static bool record_valid(const struct trace_slice *slice, uint64_t key)
{
	const struct ras_record *record = (const void *)(slice->data +
							 slice->at);

	return record->stamp == ((slice->first + slice->at) ^ key) &&
	       record->length >= RAS_RECORD_HEADER &&
	       record->length <= RAS_RECORD_MAX &&
	       record->length <= slice->size - slice->at;
}

static const struct ras_record *record_take(struct trace_slice *slice)
{
	const struct ras_record *record = (const void *)(slice->data +
							 slice->at);
	size_t step = (record->length + 7) & ~(size_t)7;
	size_t left = slice->size - slice->at;

	slice->at += step < left ? step : left;
	slice->found++;
	slice->taken = true;
	if (slice->oldest_due)
		slice->oldest = record->time;
	slice->oldest_due = false;
	return record;
}

static const struct ras_record *chunk_next(struct trace_slice *slice,
					   uint64_t key)
{
	while (slice->at < slice->size) {
		size_t left = slice->size - slice->at;
		size_t step = left < 8 ? left : 8;

		if (left >= RAS_RECORD_HEADER && record_valid(slice, key))
			return record_take(slice);
		if (!slice->lost)
			slice->lost_at = slice->first + slice->at;
		slice->lost += step;
		slice->at += step;
	}
	return NULL;
}

const struct ras_record *slices_next(struct slices *s,
				     struct trace_slice *slice, uint64_t key)
{
	const struct ras_record *record;

	while (!(record = chunk_next(slice, key)))
		if (!slice_advance(s, slice))
			return NULL;
	return record;
}

/* ---- the whole ---- */

bool slices_recover_key(struct slices *s, __u64 *key)
{
	for (size_t i = 0; i < s->count; i++) {
		struct trace_slice *slice = s->items[i];
		uint64_t stamp;

		while (!slice->data && slice_advance(s, slice))
			;
		if (slice->damaged || slice->size < RAS_RECORD_HEADER)
			continue;
		memcpy(&stamp, slice->data, sizeof(stamp));
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

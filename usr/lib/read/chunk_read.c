// SPDX-License-Identifier: GPL-2.0
#include "chunk_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"
#include "lib/library.h"
#include "lib/formats/chunk.h"
#include "source.h"

void damage_add(struct damage *damage, const char *fmt, ...)
{
	va_list args;

	if (damage->count++ >= DAMAGE_LINES)
		return;
	va_start(args, fmt);
	vsnprintf(damage->lines[damage->count - 1], sizeof(damage->lines[0]),
		  fmt, args);
	va_end(args);
}

#define PIECE		(128u << 10)	/* at a time */

static uint32_t head_crc(const struct ras_chunk *chunk)
{
	struct ras_chunk head = *chunk;

	head.crc = 0;
	return hash_crc32(0, &head, sizeof(head));
}

static bool crc_differs(const struct ras_chunk *chunk, uint32_t crc,
			struct chunk_place place, struct damage *damage)
{
	if (crc != chunk->crc && place.length == chunk->length)
		damage_add(damage,
			   "checksum of the chunk at offset %llu (kind %u) differs",
			   (unsigned long long)place.offset, chunk->kind);
	return crc != chunk->crc;
}

bool chunk_read_damaged(const struct ras_chunk *chunk, const void *payload,
			struct chunk_place place, struct damage *damage)
{
	return crc_differs(chunk, hash_crc32(head_crc(chunk), payload,
					     place.length), place, damage);
}

/* 0 or a negative errno. */
static int payload_crc(struct trace_source *source, struct chunk_place place,
		       uint32_t *crc)
{
	uint64_t at = place.offset + sizeof(struct ras_chunk);
	uint64_t end = at + place.length;
	struct source_window window = { 0 };
	int code = 0;

	window_open(&window, at, place.length);
	while (at < end && !code) {
		if (!window_fill(&window, source, window.size, PIECE))
			code = window.exhausted ? -ENOMEM : -EIO;
		*crc = hash_crc32(*crc, window.data, window.size);
		at += window.size;
	}
	window_free(&window);
	return code;
}

bool chunk_read_damaged_file(const struct ras_chunk *chunk,
			     struct chunk_place place,
			     struct trace_source *source, struct damage *damage)
{
	uint32_t crc = head_crc(chunk);
	int code = payload_crc(source, place, &crc);

	if (!code)
		return crc_differs(chunk, crc, place, damage);
	damage->exhausted |= code == -ENOMEM;
	damage_add(damage, "the chunk at offset %llu can't be read",
		   (unsigned long long)place.offset);
	return true;
}

static void *expand_refuse(struct damage *damage, struct chunk_place place,
			   const char *why)
{
	damage_add(damage, "the packed chunk at offset %llu: %s",
		   (unsigned long long)place.offset, why);
	return NULL;
}

static void *method_refuse(struct damage *damage, struct chunk_place place,
			   uint32_t method)
{
	const char *library = pack_library(method);

	if (!library)
		return expand_refuse(damage, place,
				     "compressed by an unknown method");
	damage_add(damage, "the packed chunk at offset %llu: unpacking it needs %s%s",
		   (unsigned long long)place.offset, library,
		   library_possible ? "" : ", in a program that isn't static");
	return NULL;
}

void *chunk_read_expand(const void *packed, struct chunk_place place,
			size_t *size, struct damage *damage)
{
	const uint8_t *payload = packed;
	struct ras_packed head;
	uint8_t *expanded;
	size_t front;
	int code;

	if (place.length < sizeof(head))
		return expand_refuse(damage, place, "cut short");
	memcpy(&head, payload, sizeof(head));
	front = sizeof(head) + head.plain;
	if (head.plain > head.length || head.plain > place.length ||
	    front > place.length || head.length > RAS_PACKED_MAX)
		return expand_refuse(damage, place, "impossible lengths");
	expanded = malloc(head.length + 8);
	damage->exhausted |= !expanded;
	if (!expanded)
		return expand_refuse(damage, place, "out of memory");
	memcpy(expanded, payload + sizeof(head), head.plain);
	code = pack_expand(head.method, payload + front, place.length - front,
			   expanded + head.plain, head.length - head.plain);
	*size = head.length;
	if (!code)
		return expanded;
	free(expanded);
	return code == -ENOTSUP ?
	       method_refuse(damage, place, head.method) :
	       expand_refuse(damage, place, "it can't be unpacked");
}

#define LOOK_MOST	4	/* times the file: so much may be looked at to
				 * find out whether checksums are right */

/* Bytes of payload that there may be, at most. */
static uint64_t payload_room(const struct resync *resync, uint64_t at)
{
	uint64_t size = resync->source->size;

	return size - at < sizeof(struct ras_chunk) ? 0 :
	       size - at - sizeof(struct ras_chunk);
}

static bool chunk_known(const struct resync *resync,
			const struct ras_chunk *chunk, uint64_t at)
{
	if (chunk->length > payload_room(resync, at))
		return false;
	return chunk->kind == RAS_CHUNK_END ? !chunk->length :
	       chunk->kind <= RAS_CHUNK_LAST;
}

bool resync_is_slice(const struct resync *resync, const uint8_t *p)
{
	struct ras_slice_copy copy;
	uint64_t stamp;

	p += sizeof(struct ras_chunk);
	memcpy(&copy, p, sizeof(copy));
	memcpy(&stamp, p + sizeof(copy), sizeof(stamp));
	return !resync->keyless && stamp == (copy.first ^ resync->key) &&
	       copy.head > copy.first &&
	       copy.head - copy.first <= RAS_SLICE_MAX;
}

static bool chunk_right(struct resync *resync, const struct ras_chunk *chunk,
			uint64_t at)
{
	struct chunk_place place = { at, chunk->length };
	uint32_t crc;

	if (chunk->length > payload_room(resync, at) ||
	    resync->looked / LOOK_MOST > resync->source->size)
		return false;
	resync->looked += sizeof(*chunk) + chunk->length;
	crc = head_crc(chunk);
	return !payload_crc(resync->source, place, &crc) && crc == chunk->crc;
}

/* Is there a chunk, by its beginning? */
static bool chunk_begins(struct resync *resync, uint64_t at)
{
	_Alignas(8) uint8_t front[RESYNC_FRONT];
	ssize_t got =
		trace_source_fetch(resync->source, at, sizeof(front), front);
	const struct ras_chunk *chunk = (const void *)front;
	struct ras_slice_copy copy;

	if (got < (ssize_t)sizeof(*chunk) || !chunk_known(resync, chunk, at))
		return false;
	if (chunk->kind == RAS_CHUNK_END)
		return chunk_right(resync, chunk, at);
	if (chunk->kind != RAS_CHUNK_SLICE || resync->keyless)
		return true;
	memcpy(&copy, chunk + 1, sizeof(copy));
	return got == sizeof(front) &&
	       ((chunk->length == sizeof(copy) && copy.head == copy.first) ||
		resync_is_slice(resync, front));
}

bool resync_plausible(struct resync *resync, const struct ras_chunk *chunk,
		      uint64_t at)
{
	uint64_t size = resync->source->size, next;

	if (chunk->kind == RAS_CHUNK_END ||
	    chunk->length > payload_room(resync, at))
		return chunk_right(resync, chunk, at);
	next = at + sizeof(*chunk) + chunk_read_padded(chunk->length);
	return next >= size || size - next < sizeof(*chunk) ||
	       chunk_begins(resync, next) || chunk_right(resync, chunk, at);
}

static bool chunk_here(struct resync *resync, const uint8_t *p, size_t have,
		       uint64_t at)
{
	struct ras_chunk chunk;

	if (have >= RESYNC_FRONT && resync_is_slice(resync, p))
		return true;
	memcpy(&chunk, p, sizeof(chunk));
	return chunk_known(resync, &chunk, at) &&
	       chunk_right(resync, &chunk, at);
}

uint64_t resync_find(struct resync *resync, uint64_t at)
{
	uint64_t size = resync->source->size, found = size;
	struct source_window window = { 0 };
	size_t done = 0;

	window_open(&window, at, at < size ? size - at : 0);
	for (;; at += 8, done += 8) {
		size_t have = window.size - done;

		if (have < RESYNC_FRONT && window.left) {
			window_fill(&window, resync->source, done, WINDOW_MOST);
			have = window.size;
			done = 0;
		}
		if (have < sizeof(struct ras_chunk))
			break;
		if (chunk_here(resync, window.data + done, have, at)) {
			found = at;
			break;
		}
	}
	resync->exhausted |= window.exhausted;
	window_free(&window);
	return found;
}

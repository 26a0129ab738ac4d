// SPDX-License-Identifier: GPL-2.0
#include "resync.h"

#include <string.h>
#include "chunk_read.h"
#include "window.h"

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
	       chunk->kind <= RAS_CHUNK_HEAP;
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

	if (chunk->length > payload_room(resync, at) ||
	    resync->looked / LOOK_MOST > resync->source->size)
		return false;
	resync->looked += sizeof(*chunk) + chunk->length;
	return chunk_read_right(chunk, place, resync->source);
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

// SPDX-License-Identifier: GPL-2.0
#include "chunk_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"
#include "lib/library.h"
#include "lib/formats/pack.h"
#include "window.h"

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

bool chunk_read_right(const struct ras_chunk *chunk, struct chunk_place place,
		      struct trace_source *source)
{
	uint32_t crc = head_crc(chunk);

	return !payload_crc(source, place, &crc) && crc == chunk->crc;
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

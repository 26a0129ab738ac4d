// SPDX-License-Identifier: GPL-2.0
#include "chunk_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../lib/hash.h"
#include "../lib/pack.h"

bool chunk_read_damaged(const struct ras_chunk *chunk,
			struct chunk_place place, struct damage *damage)
{
	struct ras_chunk head = *chunk;
	uint32_t crc;

	head.crc = 0;
	crc = hash_crc32(0, &head, sizeof(head));
	crc = hash_crc32(crc, chunk + 1, place.length);
	if (crc != chunk->crc && place.length == chunk->length)
		damage_add(damage,
			   "checksum of the chunk at offset %llu (kind %u) differs",
			   (unsigned long long)place.offset, chunk->kind);
	return crc != chunk->crc;
}

static void *expand_refuse(struct damage *damage, struct chunk_place place,
			   const char *why)
{
	damage_add(damage, "the packed chunk at offset %llu: %s",
		   (unsigned long long)place.offset, why);
	return NULL;
}

void *chunk_read_expand(const struct ras_chunk *chunk,
			struct chunk_place place, size_t *size,
			struct damage *damage)
{
	const uint8_t *payload = (const void *)(chunk + 1);
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
	if (!expanded)
		return expand_refuse(damage, place, "out of memory");
	memcpy(expanded, payload + sizeof(head), head.plain);
	code = pack_expand(head.method, payload + front, place.length - front,
			   expanded + head.plain, head.length - head.plain);
	*size = head.length;
	if (!code)
		return expanded;
	free(expanded);
	return expand_refuse(damage, place, code != -ENOTSUP ?
			     "it can't be unpacked" :
			     head.method == RAS_PACKED_ZSTD ?
			     "unpacking it needs libzstd.so.1, in a program that isn't static" :
			     "compressed by an unknown method");
}

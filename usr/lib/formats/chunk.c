// SPDX-License-Identifier: GPL-2.0
#include "chunk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/rasfile.h>
#include "lib/hash.h"
#include "pack.h"

#define PACK_LEAST	256	/* bytes: below it isn't worth it */

static bool room_grow(uint8_t **data, size_t *room, size_t size)
{
	size_t wanted = *room ? *room : 4096;
	void *grown;

	while (wanted < size)
		wanted *= 2;
	if (*room >= size)
		return true;
	grown = realloc(*data, wanted);
	if (!grown)
		return false;
	*data = grown;
	*room = wanted;
	return true;
}

void chunk_begin(struct chunk_out *out)
{
	out->used = 0;
	chunk_room(out, sizeof(struct ras_chunk));
}

void *chunk_room(struct chunk_out *out, size_t n)
{
	/* 8 more: the padding */
	if (!out->error && !room_grow(&out->data, &out->room,
				      out->used + n + 8))
		out->error = -ENOMEM;
	if (out->error)
		return NULL;
	out->used += n;
	return out->data + out->used - n;
}

void chunk_add(struct chunk_out *out, const void *data, size_t n)
{
	void *place = chunk_room(out, n);

	if (place && n)
		memcpy(place, data, n);
}

void chunk_cut(struct chunk_out *out, size_t length)
{
	if (!out->error)
		out->used = sizeof(struct ras_chunk) + length;
}

/* `used` bytes with room for a header in front and the padding at the end. */
static int chunk_give(struct chunk_out *out, uint8_t *data, size_t used,
		      uint32_t kind)
{
	size_t padding = -used & 7;
	struct ras_chunk chunk = {
		.kind = kind, .length = used - sizeof(chunk),
	};

	memcpy(data, &chunk, sizeof(chunk));
	chunk.crc = hash_crc32(0, data, used);
	memcpy(data, &chunk, sizeof(chunk));
	memset(data + used, 0, padding);
	return out->take(out->context, data, used + padding);
}

/* The packed form, and its size; 0: it stays as it is. */
static size_t chunk_pack(struct chunk_out *out, uint32_t kind)
{
	size_t length = out->used - sizeof(struct ras_chunk), packed;
	struct ras_packed head = {
		.kind = kind, .method = out->pack, .length = length,
		.plain = kind == RAS_CHUNK_SLICE ?
			 sizeof(struct ras_slice_copy) : 0,
	};
	size_t front = sizeof(struct ras_chunk) + sizeof(head) + head.plain;
	const uint8_t *payload;

	if (!out->pack || length < PACK_LEAST || length > RAS_PACKED_MAX)
		return 0;
	payload = out->data + sizeof(struct ras_chunk);
	packed = pack_bound(out->pack, length);
	if (!room_grow(&out->packed, &out->packed_room, front + packed + 8) ||
	    pack_compress(out->pack, payload + head.plain, length - head.plain,
			  out->packed + front, &packed) ||
	    front + packed >= out->used)
		return 0;
	memcpy(out->packed + sizeof(struct ras_chunk), &head, sizeof(head));
	memcpy(out->packed + front - head.plain, payload, head.plain);
	return front + packed;
}

void chunk_end(struct chunk_out *out, uint32_t kind)
{
	size_t packed;

	if (out->error)
		return;
	packed = chunk_pack(out, kind);
	if (packed)
		out->error = chunk_give(out, out->packed, packed,
					RAS_CHUNK_PACKED);
	else
		out->error = chunk_give(out, out->data, out->used, kind);
}

void chunk_out_free(struct chunk_out *out)
{
	free(out->data);
	free(out->packed);
	out->data = out->packed = NULL;
	out->room = out->packed_room = 0;
}

int chunk_memory_take(void *context, const void *chunk, size_t size)
{
	struct chunk_memory *memory = context;

	if (!room_grow(&memory->data, &memory->room, memory->size + size))
		return -ENOMEM;
	memcpy(memory->data + memory->size, chunk, size);
	memory->size += size;
	return 0;
}

void chunk_file_begin(struct chunk_out *out, struct ras_file *file)
{
	memcpy(file->magic, RAS_FILE_MAGIC, sizeof(file->magic));
	file->order = RAS_FILE_ORDER;
	file->version = RAS_FILE_VERSION;
	file->size = sizeof(*file);
	file->layout = RAS_LAYOUT;
	file->crc = 0;
	file->crc = hash_crc32(0, file, sizeof(*file));
	if (!out->error)
		out->error = out->take(out->context, file, sizeof(*file));
}

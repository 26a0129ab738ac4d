// SPDX-License-Identifier: GPL-2.0
#include "chunk.h"

#include <errno.h>
#include <pthread.h>
#include <rastrace/rasfile.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/library.h"
#include "lib/hash.h"

#define LEVEL		1	/* spooling must keep up with tracing */
#define ZLIB		"libz.so.1"
#define ZSTD		"libzstd.so.1"

/* What zlib calls compress2() and so on; its interface is stable. */
static struct {
	unsigned long (*bound)(unsigned long size);
	int (*compress)(void *to, unsigned long *room, const void *from,
			unsigned long size, int level);
	int (*expand)(void *to, unsigned long *room, const void *from,
		      unsigned long size);
	bool there;
} zlib;

/* ZSTD_compress() of libzstd */
static struct {
	size_t (*bound)(size_t size);
	size_t (*compress)(void *to, size_t room, const void *from,
			   size_t size, int level);
	size_t (*expand)(void *to, size_t room, const void *from, size_t size);
	unsigned int (*is_error)(size_t result);
	bool there;
} zstd;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void libraries_load(void)
{
	zlib.bound = library_symbol(ZLIB, "compressBound");
	zlib.compress = library_symbol(ZLIB, "compress2");
	zlib.expand = library_symbol(ZLIB, "uncompress");
	zlib.there = zlib.bound && zlib.compress && zlib.expand;
	zstd.bound = library_symbol(ZSTD, "ZSTD_compressBound");
	zstd.compress = library_symbol(ZSTD, "ZSTD_compress");
	zstd.expand = library_symbol(ZSTD, "ZSTD_decompress");
	zstd.is_error = library_symbol(ZSTD, "ZSTD_isError");
	zstd.there = zstd.bound && zstd.compress && zstd.expand &&
		     zstd.is_error;
}

const char *pack_library(int method)
{
	return method == RAS_PACKED_ZLIB ? ZLIB :
	       method == RAS_PACKED_ZSTD ? ZSTD : NULL;
}

bool pack_is_there(int method)
{
	pthread_once(&once, libraries_load);
	return (method == RAS_PACKED_ZLIB && zlib.there) ||
	       (method == RAS_PACKED_ZSTD && zstd.there);
}

int pack_method_find(const char *name, struct error *err)
{
	int method;
	const char *library;

	if (!name)
		method = pack_is_there(RAS_PACKED_ZSTD) ? RAS_PACKED_ZSTD :
						     RAS_PACKED_ZLIB;
	else if (!strcmp(name, "zlib"))
		method = RAS_PACKED_ZLIB;
	else if (!strcmp(name, "zstd"))
		method = RAS_PACKED_ZSTD;
	else
		return error_set(err, -EINVAL,
				 "'%s' is no compression: zlib or zstd", name);
	if (pack_is_there(method))
		return method;
	library = pack_library(method);
	error_set(err, -ENOTSUP, "compression needs %s", library);
	error_hint(err, library_possible ?
		   "install it, or take the other method, or none" :
		   "this program is static: take zlib");
	return -ENOTSUP;
}

int pack_method_take(const char *program, const char *value, int *method)
{
	struct error err;

	*method = pack_method_find(value, &err);
	if (*method >= 0)
		return 0;
	error_print(program, &err);
	return -1;
}

static size_t pack_bound(int method, size_t size)
{
	return method == RAS_PACKED_ZSTD ? zstd.bound(size)
					 : zlib.bound(size);
}

/* *packed: bytes of room at `to`, then those used. 0, or -EIO. */
static int pack_compress(int method, int level, const void *from, size_t size,
			 void *to, size_t *packed)
{
	unsigned long room = *packed;

	if (method == RAS_PACKED_ZSTD) {
		*packed = zstd.compress(to, *packed, from, size, level);
		return zstd.is_error(*packed) ? -EIO : 0;
	}
	if (zlib.compress(to, &room, from, size, level))
		return -EIO;
	*packed = room;
	return 0;
}

int pack_expand(int method, const void *from, size_t packed, void *to,
		size_t size)
{
	unsigned long room = size;

	if (!pack_is_there(method))
		return -ENOTSUP;
	if (method == RAS_PACKED_ZSTD)
		return zstd.expand(to, size, from, packed) == size ?
		       0 : -EINVAL;
	return !zlib.expand(to, &room, from, packed) && room == size ?
	       0 : -EINVAL;
}

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

size_t pack_bytes(int method, int level, const void *from, size_t size,
		  uint8_t **packed, size_t *room)
{
	size_t used;

	if (!pack_is_there(method))
		return 0;
	used = pack_bound(method, size);
	if (!room_grow(packed, room, used) ||
	    pack_compress(method, level, from, size, *packed, &used) ||
	    used >= size)
		return 0;
	return used;
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
	    pack_compress(out->pack, LEVEL, payload + head.plain,
			  length - head.plain, out->packed + front, &packed) ||
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

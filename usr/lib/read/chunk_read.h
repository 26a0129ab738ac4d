/* SPDX-License-Identifier: GPL-2.0 */
/* A chunk of a .ras file: is it whole, and what is in a packed one. */
#ifndef LIB_READ_CHUNK_READ_H
#define LIB_READ_CHUNK_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/rasfile.h>
#include "damage.h"
#include "source.h"

/* Of the chunk at `offset` of the file so many bytes of payload are there. */
struct chunk_place {
	uint64_t offset;
	uint64_t length;
};

/* Bytes that a payload of this length takes in the file. */
static inline uint64_t chunk_read_padded(uint64_t length)
{
	return (length + 7) & ~(uint64_t)7;
}

/* The checksum differs, which is reported unless bytes are missing anyhow. The
 * payload is in memory, or in the file. */
bool chunk_read_damaged(const struct ras_chunk *chunk, const void *payload,
			struct chunk_place place, struct damage *damage);
bool chunk_read_damaged_file(const struct ras_chunk *chunk,
			     struct chunk_place place,
			     struct trace_source *source,
			     struct damage *damage);
/* The checksum of a whole chunk in the file is right. */
bool chunk_read_right(const struct ras_chunk *chunk, struct chunk_place place,
		      struct trace_source *source);
/* What is in a packed chunk, given its payload, for free(); NULL: it can't be
 * unpacked, which is reported. */
void *chunk_read_expand(const void *packed, struct chunk_place place,
			size_t *size, struct damage *damage);

#endif

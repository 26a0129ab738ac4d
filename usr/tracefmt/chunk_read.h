/* SPDX-License-Identifier: GPL-2.0 */
/* A chunk of a .ras file: is it whole, and what is in a packed one. */
#ifndef TRACEFMT_CHUNK_READ_H
#define TRACEFMT_CHUNK_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/rasfile.h>
#include "damage.h"

/* Of the chunk at `offset` of the file so many bytes of payload are there. */
struct chunk_place {
	uint64_t offset;
	uint64_t length;
};

/* The checksum differs, which is told unless bytes are missing anyhow. */
bool chunk_read_damaged(const struct ras_chunk *chunk,
			struct chunk_place place, struct damage *damage);
/* The payload of a packed chunk, for free(); NULL, which is told. */
void *chunk_read_expand(const struct ras_chunk *chunk,
			struct chunk_place place, size_t *size,
			struct damage *damage);

#endif

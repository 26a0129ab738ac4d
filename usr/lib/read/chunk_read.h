/* SPDX-License-Identifier: GPL-2.0 */
/* A chunk of a .ras file: is it whole, and what is in a packed one. */
#ifndef LIB_READ_CHUNK_READ_H
#define LIB_READ_CHUNK_READ_H

#include <rastrace/rasfile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "source.h"

/* What of a file was lost and where: kept while it is read, reported at the
 * end. */

#define DAMAGE_LINES	16	/* a ruined file would have thousands */

struct damage {
	char lines[DAMAGE_LINES][160];
	size_t count;		/* all, also those not kept */
	bool exhausted;		/* memory was: what is missing isn't damaged */
};

void damage_add(struct damage *damage, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

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
/* What is in a packed chunk, given its payload, for free(); NULL: it can't be
 * unpacked, which is reported. */
void *chunk_read_expand(const void *packed, struct chunk_place place,
			size_t *size, struct damage *damage);

/*
 * Where the next chunk of a file is when one's header is damaged: its length
 * leads anywhere then.
 */

#define RESYNC_FRONT	(sizeof(struct ras_chunk) + \
			 sizeof(struct ras_slice_copy) + sizeof(__u64))

struct resync {
	struct trace_source *source;
	uint64_t key;		/* of the records' stamps */
	bool keyless;		/* it isn't known */
	uint64_t looked;	/* bytes so far whose checksum was tried */
	bool exhausted;		/* memory was: there may be more */
};

/* May it be what it says: does its length lead to the end or another one, or is
 * its checksum right? */
bool resync_plausible(struct resync *resync, const struct ras_chunk *chunk,
		      uint64_t at);
/* RESYNC_FRONT bytes are those of a chunk with records, whatever its header
 * says: the first one has its stamp. */
bool resync_is_slice(const struct resync *resync, const uint8_t *p);
/* Offset of the first chunk at or after `at`; the source's size: none. */
uint64_t resync_find(struct resync *resync, uint64_t at);

#endif

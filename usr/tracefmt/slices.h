/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The records of a trace by slice: of each the chunks in the order of the file,
 * which are fetched, unpacked and given back one by one.
 */
#ifndef TRACEFMT_SLICES_H
#define TRACEFMT_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/rasfile.h>
#include "damage.h"
#include "source.h"

/* A chunk with records of a slice. */
struct slice_chunk {
	uint64_t offset;	/* of the chunk in the file */
	uint64_t length;	/* of its payload, as far as it is there */
	struct source_bytes bytes;	/* of a pipe: header and payload */
	struct ras_slice_copy copy;
};

struct trace_slice {
	uint32_t cpu, level;
	size_t index;		/* of the slice in the trace */
	struct slice_chunk *chunks;
	size_t chunk_count, chunk_room;
	size_t chunk_at;	/* the next one to be read */
	/* the one that is being read */
	const uint8_t *data;
	size_t size, at;	/* at: offset of the next record */
	uint64_t first;		/* its position */
	void *owned, *done;	/* done: the last one before that had records,
				 * which may be in use */
	size_t owned_size;
	bool taken;		/* a record of this one */
	bool damaged;		/* its checksum differs: values may be wrong */
	/* so far */
	bool begun;		/* position is set */
	uint64_t position;	/* behind the last chunk that was read */
	uint32_t gaps;		/* places where records were overwritten */
	bool oldest_due;
	uint64_t oldest;	/* time of the first record behind the last gap,
				 * or of all */
	uint64_t found;		/* records read */
	uint64_t lost;		/* bytes that are no records */
	uint64_t lost_at;	/* position of the first of them */
	/* of the whole trace */
	bool wrapped;		/* what was before is missing */
	uint64_t dropped, dropped_base;	/* hits; base: at the trace's start */
	bool queued;		/* merge.c's */
};

struct slices {
	struct source *source;
	struct damage *damage;
	struct trace_slice **items;
	size_t count;
	uint32_t *table;	/* hashed by CPU and level: place in items + 1 */
	size_t table_size;
	uint64_t fetched;	/* bytes of chunks that are there now */
};

/*
 * Add a chunk, which may be packed; its header and `have` bytes of its payload
 * are at `bytes` (which are taken over when they are whole, else only read).
 * 0 or -ENOMEM.
 */
int slices_add(struct slices *slices, uint64_t offset, uint64_t length,
	       struct source_bytes *bytes);
/* What is there stands in front of a spool's first pass: where slices go on. */
void slices_begin(struct slices *slices);
void slices_free(struct slices *slices);

/* The next record, 8-byte aligned, its length checked; NULL at the end of what
 * is there. It stays until the second call behind this one. */
const struct ras_record *slices_next(struct slices *slices,
				     struct trace_slice *slice, uint64_t key);
/* The key that the first record's stamp tells, when a header is ruined. */
bool slices_recover_key(struct slices *slices, __u64 *key);
/* After the last record: tell what was lost. */
void slices_finish(struct slices *slices);

#endif

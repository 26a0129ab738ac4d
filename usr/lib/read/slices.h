/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The records of a trace by slice: of each the chunks in the order of the file,
 * which are fetched, unpacked and given back one by one.
 */
#ifndef LIB_READ_SLICES_H
#define LIB_READ_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/rasfile.h>
#include "lib/key_map.h"
#include "chunk_read.h"
#include "source.h"

#define SLICE_PREFETCH	512		/* bytes ahead of a record */

/* A chunk with records of a slice. */
struct slice_chunk {
	struct ras_chunk head;
	uint64_t offset;	/* of the chunk in the file */
	uint64_t length;	/* of its payload, as far as it is there */
	uint64_t skip;		/* bytes of records that another trace has */
	bool passed;		/* all of them */
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
	struct source_window window;	/* of its records */
	size_t at;		/* in the window: the next record */
	uint64_t first;		/* position of the window's beginning */
	size_t owned_size;	/* bytes of memory that only this chunk needs */
	bool damaged;		/* its checksum differs: values may be wrong */
	/* so far */
	bool begun;		/* position is set */
	uint64_t position;	/* after the last chunk that was read */
	uint32_t gaps;		/* places where records were overwritten */
	bool oldest_due;
	uint64_t oldest;	/* time of the first record after the last gap,
				 * or of all */
	uint64_t found;		/* records read */
	uint64_t lost;		/* bytes that are no records */
	uint64_t lost_at;	/* position of the first of them */
	bool hole;		/* records are missing in front of the next */
	/* of the whole trace */
	bool wrapped;		/* what was before is missing */
	uint64_t dropped, dropped_base;	/* hits; base: at the trace's start */
	bool queued;		/* merge.c's */
};

struct slices {
	struct trace_source *source;
	struct damage *damage;
	struct trace_slice **items;
	size_t count, room;
	struct key_map places;	/* the items, by slice_key() */
	uint64_t held;		/* bytes of chunks of a pipe, to be read */
	size_t pending;		/* chunks to be read */
	uint64_t gaps;		/* places where records are missing, so far: in
				 * front of a slice, or in it */
	uint64_t lost_until;	/* boot clock: before this, records of a slice
				 * are missing, as far as was read; 0: none */
	uint64_t fetched;	/* bytes of chunks that are there now */
	size_t budget;		/* bytes for windows on larger ones; 0: WINDOW_ALL */
};

/*
 * Add a chunk, which may be packed; its header and `have` bytes of its payload
 * are at `bytes` (which are taken over when they are whole, else only read).
 * 0 or -ENOMEM.
 */
int slices_add(struct slices *slices, uint64_t offset, uint64_t length,
	       struct source_bytes *bytes);
/* The records so far precede a spool's first pass: slices go on after them. */
void slices_begin(struct slices *slices);
/* Skip the records of `other`, which is of the same buffer and earlier. */
void slices_pass(struct slices *slices, const struct slices *other);
void slices_free(struct slices *slices);

/* slices_next() where the next record isn't in memory, or isn't one. */
const struct ras_record *slices_search(struct slices *slices,
				       struct trace_slice *slice, uint64_t key);

/* RAS_RECORD_HEADER bytes are there: are they the head of a record that is in
 * the window? */
static inline bool slice_has_record(const struct trace_slice *slice,
				    uint64_t key)
{
	const struct ras_record *record =
		(const void *)(slice->window.data + slice->at);

	return record->stamp == ((slice->first + slice->at) ^ key) &&
	       record->length >= RAS_RECORD_HEADER &&
	       record->length <= RAS_RECORD_MAX &&
	       record->length <= slice->window.size - slice->at;
}

static inline const struct ras_record *slice_take(struct trace_slice *slice)
{
	const struct ras_record *record =
		(const void *)(slice->window.data + slice->at);
	size_t step = (record->length + 7) & ~(size_t)7;
	size_t left = slice->window.size - slice->at;

	__builtin_prefetch((const uint8_t *)record + SLICE_PREFETCH);
	slice->at += step < left ? step : left;
	slice->found++;
	if (slice->oldest_due)
		slice->oldest = record->time;
	slice->oldest_due = false;
	return record;
}

/* The next record, 8-byte aligned, its length checked; NULL at the end of what
 * is there. It stays until the next call. */
static inline const struct ras_record *
slices_next(struct slices *slices, struct trace_slice *slice, uint64_t key)
{
	if (slice->window.size - slice->at >= RAS_RECORD_MAX &&
	    slice_has_record(slice, key))
		return slice_take(slice);
	return slices_search(slices, slice, key);
}

/* The key of the first record's stamp, when a header is ruined. */
bool slices_recover_key(struct slices *slices, __u64 *key);
/* After the last record: report what was lost. */
void slices_finish(struct slices *slices);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading a slice of the trace buffer (the reader's protocol of
 * rastrace/buffer.h) and walking over its records.
 */
#ifndef LIB_RING_H
#define LIB_RING_H

#include <stddef.h>
#include <stdint.h>
#include <rastrace/buffer.h>

/* Records copied out of a slice: the one at position p is at
 * data + (p - first). */
struct ring {
	const uint8_t *data;
	uint64_t first;		/* position of the first record */
	uint64_t head;		/* position after the last one */
	uint64_t records;	/* ever published in the slice, up to head */
	uint64_t dropped;
	uint64_t count;		/* records here */
};

/*
 * Copy what is whole in a slice with `size` data bytes into `out` (at least
 * size bytes) while it may be written. Records that start before `tail` are
 * left out. Places that hold no record (damage) come out as zeros.
 */
void ring_copy(struct ring *ring, const struct ras_slice *slice, uint64_t size,
	       uint64_t key, uint64_t tail, uint8_t *out);

struct ring_walk {
	uint64_t position;	/* of the next record; start with ring->first */
	uint64_t damaged;	/* bytes skipped so far that are no record */
};

/* The next record, whole and 8-byte aligned; NULL at the end. */
const struct ras_record *ring_next(const struct ring *ring, uint64_t key,
				   struct ring_walk *walk);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "ring.h"

#include <string.h>
#include <rastrace/ring.h>

#define CHUNK		(256u << 10)
#define ATTEMPTS	16

static uint64_t ring_head(const struct ras_slice *slice)
{
	return __atomic_load_n(&slice->head, __ATOMIC_ACQUIRE);
}

/* The head and how many records are in front of it. While the lock is taken
 * `records` may be one ahead, which would be taken for a lost one: when the
 * writer never pauses they are too few by some. */
static uint64_t ring_head_count(const struct ras_slice *slice,
				uint64_t *records)
{
	uint64_t head, locked;

	for (int i = 0; i < ATTEMPTS; i++) {
		*records = __atomic_load_n(&slice->records, __ATOMIC_ACQUIRE);
		locked = __atomic_load_n(&slice->lock, __ATOMIC_ACQUIRE);
		head = ring_head(slice);
		if (!locked && __atomic_load_n(&slice->records,
					       __ATOMIC_RELAXED) == *records)
			return head;
	}
	*records -= locked && *records;
	return head;
}

/* What is being copied: positions [base, head) go to `out`. */
struct copy {
	const struct ras_slice *slice;
	uint64_t size, key;
	uint64_t base, head;
	uint64_t first;			/* oldest position still whole */
	uint8_t *out;
	/* The bytes after the ring's end: they belong to the record that
	 * starts before the lap's end. */
	uint8_t slack[RAS_RECORD_MAX];
	uint64_t lap;			/* end of the lap inside (base, head) */
	uint64_t records;		/* ever published, up to head */
	uint64_t count;			/* of those copied */
};

/*
 * Put the slack where its positions are and zeros where no record is. Returns
 * the position of the first record.
 */
static uint64_t copy_unroll(struct copy *c)
{
	uint64_t position = c->first, first = c->head, end;
	struct ras_record header;
	size_t n;

	while (c->head - position >= sizeof(header)) {
		/* The header at `position`, whose end may be in the slack. */
		n = sizeof(header);
		if (position < c->lap && c->lap - position < n)
			n = c->lap - position;
		memcpy(&header, c->out + (position - c->base), n);
		memcpy((uint8_t *)&header + n, c->slack, sizeof(header) - n);

		if (!ras_record_valid(&header, position, c->head - position,
				  c->key)) {
			memset(c->out + (position - c->base), 0, 8);
			position += 8;
			continue;
		}
		if (first == c->head)
			first = position;
		c->count++;
		end = position + ras_record_space(header.length);
		if (position < c->lap && end > c->lap)
			memcpy(c->out + (c->lap - c->base), c->slack,
			       end - c->lap);
		position = end;
	}
	memset(c->out + (position - c->base), 0, c->head - position);
	return first;
}

void ring_copy(struct ring *ring, const struct ras_slice *slice, uint64_t size,
	       uint64_t key, uint64_t tail, uint8_t *out)
{
	struct copy c = {
		.slice = slice, .size = size, .key = key, .out = out,
	};
	uint64_t position;

	for (int i = 0; i < ATTEMPTS; i++) {
		c.head = ring_head_count(slice, &c.records);
		c.base = ras_slice_oldest(c.head, size);
		if (c.base < tail)
			c.base = tail < c.head ? tail : c.head;

		/*
		 * Oldest first, in the order in which the writer overwrites:
		 * what has been copied and found whole stays whole, whatever
		 * the writer does later.
		 */
		position = c.base;
		c.first = c.base;
		c.lap = 0;
		while (position < c.head) {
			uint64_t at = position & (c.size - 1);
			uint64_t n = c.head - position, limit;

			if (n > CHUNK)
				n = CHUNK;
			if (n >= c.size - at) {
				n = c.size - at;
				c.lap = position + n;
				memcpy(c.slack, c.slice->data + c.size,
				       RAS_RECORD_MAX);
			}
			memcpy(c.out + (position - c.base), c.slice->data + at,
			       n);
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			limit = ras_slice_oldest(ring_head(c.slice), c.size);
			if (limit > position)
				c.first = limit;
			position += n;
		}

		if (c.first < c.head || c.base == c.head)
			break;
	}
	if (c.first > c.head)
		c.first = c.head;
	ring->first = copy_unroll(&c);
	ring->head = c.head;
	ring->data = out + (ring->first - c.base);
	ring->records = c.records;
	ring->count = c.count;
	ring->dropped = __atomic_load_n(&slice->dropped, __ATOMIC_RELAXED);
}

const struct ras_record *ring_next(const struct ring *ring, uint64_t key,
				   struct ring_walk *walk)
{
	const struct ras_record *record;

	while (ring->head - walk->position >= sizeof(*record)) {
		uint64_t position = walk->position;
		uint64_t left = ring->head - position;

		record = (const void *)(ring->data + (position - ring->first));
		if (ras_record_valid(record, position, left, key)) {
			walk->position += ras_record_space(record->length);
			return record;
		}
		walk->position += 8;
		walk->damaged += 8;
	}
	walk->damaged += ring->head - walk->position;
	walk->position = ring->head;
	return NULL;
}

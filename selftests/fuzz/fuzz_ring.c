// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a slice: what a reader takes for records lies within it, and a
 * writer that goes on there stays within it, whatever its head says.
 */
#include <stdlib.h>
#include <string.h>
#include <rastrace/ring.h>
#include "lib/buffer/ring.h"

#define SIZE	(32u << 10)
#define KEY	0x0123456789abcdefULL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The records of a copy, each of which must be there. */
static uint64_t copy_walk(const struct ras_slice *slice, uint64_t tail)
{
	struct ring_walk walk;
	const struct ras_record *record;
	struct ring ring;
	uint8_t *out = malloc(SIZE);
	uint64_t count = 0, bytes = 0;

	if (!out)
		abort();
	ring_copy(&ring, slice, SIZE, KEY, tail, out);
	if (ring.first > ring.head || ring.head - ring.first > SIZE ||
	    ring.data < out || ring.data > out + SIZE)
		abort();
	walk.position = ring.first;
	walk.damaged = 0;
	while ((record = ring_next(&ring, KEY, &walk))) {
		for (uint32_t i = 0; i < record->length; i++)
			bytes += ((const uint8_t *)record)[i];
		count++;
	}
	if (count != ring.count || walk.position != ring.head)
		abort();
	free(out);
	return bytes ? count : 0;
}

static void slice_write(struct ras_slice *slice, uint32_t length)
{
	uint64_t before = slice->records;
	struct ras_record *record;

	slice->lock = 0;
	if (!ras_slice_take(slice) || ras_slice_take(slice))
		abort();
	record = ras_slice_place(slice, SIZE);
	memset(record, 0xaa, length);
	ras_slice_publish(slice, record, length, KEY);
	if (slice->lock || slice->records != before + 1)
		abort();
}

/* Bytes 0 and 1: the length of what is written after; 2 to 9: the tail. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t whole = sizeof(struct ras_slice) + SIZE + RAS_RECORD_MAX;
	struct ras_slice *slice = calloc(1, whole);
	uint64_t tail, head;
	uint16_t length;

	if (!slice)
		abort();
	if (size >= sizeof(length) + sizeof(tail)) {
		memcpy(&length, data, sizeof(length));
		memcpy(&tail, data + sizeof(length), sizeof(tail));
		data += sizeof(length) + sizeof(tail);
		size -= sizeof(length) + sizeof(tail);
		memcpy(slice, data, size < whole ? size : whole);
		copy_walk(slice, tail);
		length = RAS_RECORD_HEADER +
			 length % (RAS_RECORD_MAX - RAS_RECORD_HEADER + 1);
		for (int i = 0; i < 8; i++) {
			head = slice->head;
			slice_write(slice, length);
			/* of an aligned one the record is found */
			if (!(head & 7) && slice->head > head &&
			    !copy_walk(slice, head))
				abort();
		}
	}
	free(slice);
	return 0;
}

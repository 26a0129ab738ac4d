// SPDX-License-Identifier: GPL-2.0
/*
 * Copying a slice that a plain writer has filled: at every state of the ring
 * exactly the records come out that the reader's protocol promises, and what
 * isn't a record is never taken for one.
 */
#include "tap.h"
#include "usr/lib/ring.h"

#define SIZE	(8u << 10)
#define KEY	0x5a5a12345678abcdULL

static union {
	struct ras_slice slice;
	uint8_t bytes[sizeof(struct ras_slice) + SIZE + RAS_RECORD_MAX];
} memory;

static uint8_t out[SIZE] __attribute__((aligned(8)));
static uint64_t starts[1 << 16];
static size_t written;

static void ring_reset(void)
{
	memset(&memory, 0, sizeof(memory));
	written = 0;
}

/* As the writer's protocol says; the data are the low byte of the position. */
static void record_write(uint32_t length)
{
	struct ras_slice *slice = &memory.slice;
	struct ras_record *record =
		(void *)(slice->data + (slice->head & (SIZE - 1)));

	memset(record, slice->head >> 3 & 0xff, length);
	*record = (struct ras_record){
		.stamp = slice->head ^ KEY, .length = length, .seq = written,
	};
	starts[written++] = slice->head;
	slice->head += (length + 7) & ~7u;
	slice->records++;
}

static bool data_right(const struct ras_record *record, uint64_t position)
{
	const uint8_t *data = (const void *)record;

	for (uint32_t i = sizeof(*record); i < record->length; i++)
		if (data[i] != (position >> 3 & 0xff))
			return false;
	return true;
}

/* Walk a copy; returns how many records there were, or -1: not those that are
 * expected. */
static int ring_check(uint64_t tail, uint64_t *damaged)
{
	uint64_t head = memory.slice.head, oldest = 0;
	const struct ras_record *record;
	struct ring_walk walk = { 0 };
	size_t expected = 0;
	struct ring ring;
	int count = 0;

	if (head >= SIZE)
		oldest = head + RAS_RECORD_MAX - SIZE;
	if (oldest < tail)
		oldest = tail;
	while (expected < written && starts[expected] < oldest)
		expected++;
	memset(out, 0xee, sizeof(out));
	ring_copy(&ring, &memory.slice, SIZE, KEY, tail, out);
	walk.position = ring.first;
	while ((record = ring_next(&ring, KEY, &walk))) {
		if (!*damaged && (expected == written ||
				  record->seq != expected ||
				  !data_right(record, starts[expected])))
			return -1;
		expected++;
		count++;
	}
	if (!*damaged && (expected != written || walk.damaged))
		return -1;
	*damaged = walk.damaged;
	return count;
}

static void test_all_states(void)
{
	unsigned int bad = 0, seed = 1;
	uint64_t damaged = 0;

	ring_reset();
	for (int i = 0; i < 20000; i++) {
		seed = seed * 1103515245 + 12345;
		record_write(RAS_RECORD_HEADER + (seed >> 16) %
			     (i % 5 ? 200 : RAS_RECORD_MAX -
			      RAS_RECORD_HEADER + 1));
		bad += ring_check(0, &damaged) < 0;
	}
	tap_is(bad, 0, "20000 states of the ring");
}

/* Records that run over the ring's end by every possible amount */
static void test_slack(void)
{
	uint64_t damaged = 0;
	unsigned int bad = 0;

	for (unsigned int over = 8; over <= RAS_RECORD_MAX; over += 8) {
		ring_reset();
		while (memory.slice.head + 64 <=
		       SIZE - (RAS_RECORD_MAX - over))
			record_write(64);
		if (memory.slice.head < SIZE - (RAS_RECORD_MAX - over))
			record_write(SIZE - (RAS_RECORD_MAX - over) + 56 -
				     memory.slice.head);
		record_write(RAS_RECORD_MAX);
		bad += ring_check(0, &damaged) < 1;
		record_write(64);
		bad += ring_check(0, &damaged) < 1;
	}
	tap_is(bad, 0, "records that run into the slack");
}

static void test_tail(void)
{
	uint64_t damaged = 0;
	unsigned int bad = 0;

	ring_reset();
	for (int i = 0; i < 500; i++)
		record_write(100);
	for (size_t i = 0; i < written; i++)
		bad += ring_check(starts[i], &damaged) < 0;
	tap_is(bad, 0, "a tail mark at every record");
	tap_is(ring_check(memory.slice.head, &damaged), 0,
	       "a tail mark at the head leaves nothing");
	tap_is(ring_check(memory.slice.head + 4096, &damaged), 0,
	       "a tail mark behind the head leaves nothing");
}

/* Logged data that look like records of other positions */
static void test_forged(void)
{
	uint64_t damaged = 0;
	unsigned int bad = 0;

	ring_reset();
	for (int i = 0; i < 400; i++) {
		uint64_t at = memory.slice.head;
		struct ras_record forged = {
			.stamp = (at + SIZE) ^ KEY, .length = 64,
		};

		record_write(256);
		memcpy(memory.slice.data + (at & (SIZE - 1)) + 64, &forged,
		       sizeof(forged));
		forged.stamp = (at + 64 + 8) ^ KEY;
		memcpy(memory.slice.data + (at & (SIZE - 1)) + 128, &forged,
		       sizeof(forged));
		damaged = 1;	/* the data differ; only the count matters */
		bad += ring_check(0, &damaged) > (int)(SIZE / 256) || damaged;
	}
	tap_is(bad, 0, "forged stamps are not taken for records");
}

/* A byte flipped in any header costs that record, not the ones around it. */
static void test_damage(void)
{
	unsigned int bad = 0;

	for (size_t byte = 0; byte < 12; byte++) {
		uint64_t damaged = 1;
		int whole, count;

		ring_reset();
		for (int i = 0; i < 40; i++)
			record_write(100);
		whole = ring_check(0, &damaged);
		memory.slice.data[starts[20] + byte] ^= 0x80;
		damaged = 1;
		count = ring_check(0, &damaged);
		/* bit 7 of the length's low byte makes it another valid one */
		bad += whole != 40 || count < 37 || count > 39 || !damaged;
	}
	tap_is(bad, 0, "a damaged record is left out and counted");
}

int main(void)
{
	test_all_states();
	test_slack();
	test_tail();
	test_forged();
	test_damage();
	return tap_done();
}

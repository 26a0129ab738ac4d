// SPDX-License-Identifier: GPL-2.0
/*
 * Copying a slice that a plain writer has filled: at every state of the ring
 * exactly the records come out that the reader's protocol promises, and what
 * isn't a record is never taken for one.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rastrace/ring.h>
#include "tap.h"
#include "lib/buffer/ring.h"

#define SMALL	(32u << 10)
#define LARGE	(1u << 20)	/* copied in several parts */
#define KEY	0x5a5a12345678abcdULL

/* A page ends between the slice's head and its number of records. */
#define BEFORE	(4096 - offsetof(struct ras_slice, records))
static uint8_t memory[BEFORE + sizeof(struct ras_slice) + LARGE +
		      RAS_RECORD_MAX] __attribute__((aligned(4096)));
static struct ras_slice *const slice = (void *)(memory + BEFORE);

static uint64_t ring_size = SMALL;
static uint8_t out[LARGE] __attribute__((aligned(8)));
static uint64_t starts[1 << 16];
static size_t written;

static void ring_reset(uint64_t size)
{
	memset(memory, 0, sizeof(memory));
	slice->dropped = 77;
	ring_size = size;
	written = 0;
}

/* As the writer's protocol says; the data are the low byte of the position. */
static void record_write(uint32_t length)
{
	struct ras_record *record =
		(void *)(slice->data + (slice->head & (ring_size - 1)));

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

/* All that isn't a record is zeros, and nothing lies after the copy. */
static bool rest_zero(const struct ring *ring, uint64_t from, uint64_t to)
{
	const uint8_t *end = ring->data + (ring->head - ring->first);

	for (; from < to; from++)
		if (ring->data[from - ring->first])
			return false;
	return end == out + sizeof(out) || *end == 0xee;
}

/* What a copy says of itself */
static bool ring_right(const struct ring *ring, size_t count)
{
	return ring->count == count && ring->dropped == 77 &&
	       ring->head == slice->head &&
	       ring->records == slice->records;
}

/* Walk a copy; returns how many records there were, or -1: not those that are
 * expected. */
static int ring_check(uint64_t tail, uint64_t *damaged)
{
	uint64_t head = slice->head, oldest = 0, end;
	const struct ras_record *record;
	struct ring_walk walk = { 0 };
	size_t expected = 0;
	struct ring ring;
	int count = 0;

	if (head >= ring_size)
		oldest = head + RAS_RECORD_MAX - ring_size;
	if (oldest < tail)
		oldest = tail;
	while (expected < written && starts[expected] < oldest)
		expected++;
	memset(out, 0xee, sizeof(out));
	ring_copy(&ring, slice, ring_size, KEY, tail, out);
	walk.position = end = ring.first;
	while ((record = ring_next(&ring, KEY, &walk))) {
		uint64_t at = walk.position - ras_record_space(record->length);

		if (!rest_zero(&ring, end, at))
			return -1;
		end = walk.position;
		if (!*damaged && (expected == written ||
				  record->seq != expected ||
				  !data_right(record, starts[expected])))
			return -1;
		expected++;
		count++;
	}
	if (!rest_zero(&ring, end, ring.head) || !ring_right(&ring, count))
		return -1;
	if (!*damaged && (expected != written || walk.damaged))
		return -1;
	*damaged = walk.damaged;
	return count;
}

static void test_all_states(void)
{
	unsigned int bad = 0, seed = 1;
	uint64_t damaged = 0;

	ring_reset(SMALL);
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
		ring_reset(SMALL);
		while (slice->head + 64 <=
		       ring_size - (RAS_RECORD_MAX - over))
			record_write(64);
		if (slice->head < ring_size - (RAS_RECORD_MAX - over))
			record_write(ring_size - (RAS_RECORD_MAX - over) + 56 -
				     slice->head);
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

	ring_reset(SMALL);
	for (int i = 0; i < 500; i++)
		record_write(100);
	for (size_t i = 0; i < written; i++)
		bad += ring_check(starts[i], &damaged) < 0;
	tap_is(bad, 0, "a tail mark at every record");
	tap_is(ring_check(slice->head, &damaged), 0,
	       "a tail mark at the head leaves nothing");
	tap_is(ring_check(slice->head + 4096, &damaged), 0,
	       "a tail mark after the head leaves nothing");
}

/* Logged data that look like records of other positions */
static void test_forged(void)
{
	uint64_t damaged = 0;
	unsigned int bad = 0;

	ring_reset(SMALL);
	for (int i = 0; i < 400; i++) {
		uint64_t at = slice->head;
		struct ras_record forged = {
			.stamp = (at + ring_size) ^ KEY, .length = 64,
		};

		record_write(256);
		memcpy(slice->data + (at & (ring_size - 1)) + 64, &forged,
		       sizeof(forged));
		forged.stamp = (at + 64 + 8) ^ KEY;
		memcpy(slice->data + (at & (ring_size - 1)) + 128, &forged,
		       sizeof(forged));
		damaged = 1;	/* the data differ; only the count matters */
		bad += ring_check(0, &damaged) > (int)(SMALL / 256) || damaged;
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

		ring_reset(SMALL);
		for (int i = 0; i < 40; i++)
			record_write(100);
		whole = ring_check(0, &damaged);
		slice->data[starts[20] + byte] ^= 0x80;
		damaged = 1;
		count = ring_check(0, &damaged);
		/* bit 7 of the length's low byte makes it another valid one */
		bad += whole != 40 || count < 37 || count > 39 || !damaged;
	}
	tap_is(bad, 0, "a damaged record is left out and counted");
}

/* The end of the last record is after the head, or before its own header's. */
static void test_lengths(void)
{
	static const uint32_t lengths[] = {
		0, 47, 113, RAS_RECORD_MAX, RAS_RECORD_MAX + 1, ~0u,
	};
	uint64_t damaged;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct ras_record *last;

		ring_reset(SMALL);
		for (int k = 0; k < 100; k++)
			record_write(112);
		last = (void *)(slice->data +
				(starts[99] & (ring_size - 1)));
		last->length = lengths[i];
		damaged = 1;
		ring_check(0, &damaged);
		tap_is(damaged, 112, "a last record of %u bytes is none",
		       lengths[i]);
	}
}

static void test_large(void)
{
	unsigned int bad = 0, seed = 1;
	uint64_t damaged = 0;

	ring_reset(LARGE);
	for (int i = 0; i < 2000; i++) {
		seed = seed * 1103515245 + 12345;
		record_write(RAS_RECORD_HEADER + (seed >> 16) %
			     (RAS_RECORD_MAX - RAS_RECORD_HEADER + 1));
		bad += !(i % 97) && ring_check(0, &damaged) < 0;
	}
	tap_is(bad, 0, "a large ring");
	/* the slack belongs to a record at the end of each part */
	ring_reset(LARGE);
	while (slice->head < LARGE - 1024)
		record_write(1024);
	record_write(2000);
	while (slice->head < LARGE + LARGE / 2)
		record_write(1024);
	for (uint64_t tail = LARGE / 4; tail < LARGE; tail += LARGE / 8)
		bad += ring_check(tail, &damaged) < 0;
	tap_is(bad, 0, "from where each part ends with the lap");
}

/* ---- overtaken by the writer ---- */

/* When the page is read so many bytes are written, and then when another is. */
static struct {
	uint8_t *page, *next;
	uint64_t bytes;
	unsigned int times;
} overtaking;

static void pages_open(void)
{
	mprotect(memory, sizeof(memory), PROT_READ | PROT_WRITE);
}

static void on_touch(int signal, siginfo_t *info, void *context)
{
	uint8_t *page = overtaking.page, *touched = info->si_addr;
	uint64_t end;

	if (touched < page || touched >= page + 4096)
		_exit(9);
	pages_open();
	overtaking.times++;
	end = slice->head + overtaking.bytes;
	while (slice->head < end)
		record_write(overtaking.next ? 1024 : 64);
	if (!overtaking.next)
		return;
	overtaking.page = overtaking.next;
	overtaking.next = page;
	mprotect(overtaking.page, 4096, PROT_NONE);
}

static uint8_t *page_of(uint64_t position)
{
	uintptr_t at = (uintptr_t)slice->data +
		       (position & (ring_size - 1));

	return (uint8_t *)(at & ~4095UL);
}

/*
 * While a copy is at `at` bytes after its begin, `bytes` are written. All
 * records from `from` bytes after the begin on must be there; SIZE_MAX: those
 * of another attempt; with `always`, none.
 */
static void overtaken(uint64_t at, uint64_t bytes, uint64_t from, bool always,
		      const char *name)
{
	uint64_t base, head, first;
	const struct ras_record *record;
	struct ring_walk walk = { 0 };
	size_t expected = 0, bad = 0;
	struct ring ring;

	ring_reset(LARGE);
	while (slice->head < LARGE + LARGE / 2)
		record_write(64);
	head = slice->head;
	base = head + RAS_RECORD_MAX - LARGE;
	overtaking.page = page_of(base + at);
	overtaking.next = always ? page_of(base + at / 2) : NULL;
	overtaking.bytes = bytes;
	overtaking.times = 0;
	mprotect(overtaking.page, 4096, PROT_NONE);
	ring_copy(&ring, slice, LARGE, KEY, 0, out);
	pages_open();
	first = base + from;
	if (from == SIZE_MAX) {
		head = slice->head;
		first = head + RAS_RECORD_MAX - LARGE;
	}
	while (starts[expected] < first)
		expected++;
	walk.position = ring.first;
	while (!always && (record = ring_next(&ring, KEY, &walk))) {
		bad += record->seq != expected ||
		       !data_right(record, starts[expected]);
		expected++;
	}
	if (always) {
		tap_ok(!ring.count && ring.first == ring.head &&
		       overtaking.times >= 16, "%s", name);
		return;
	}
	if (!tap_ok(!bad && !walk.damaged && ring.head == head &&
		    (expected == written || starts[expected] == head) &&
		    overtaking.times == 1, "%s", name))
		tap_diag("%zu bad, %llu damaged, %zu of %zu, %u times", bad,
			 (unsigned long long)walk.damaged, expected, written,
			 overtaking.times);
}

/* A record is written between the looks at the number and at the head. */
static void test_counts(void)
{
	struct ring ring;

	ring_reset(LARGE);
	while (slice->head < LARGE / 2)
		record_write(64);
	overtaking.page = memory;
	overtaking.next = NULL;
	overtaking.bytes = 64;
	overtaking.times = 0;
	mprotect(memory, 4096, PROT_NONE);
	ring_copy(&ring, slice, LARGE, KEY, 0, out);
	pages_open();
	tap_ok(overtaking.times == 1 && ring_right(&ring, written),
	       "head and number of records fit together");

	slice->lock = 1;
	slice->records++;
	ring_copy(&ring, slice, LARGE, KEY, 0, out);
	tap_is(ring.records, written, "one that isn't published isn't counted");
}

static void test_overtaken(void)
{
	const struct sigaction touched = {
		.sa_sigaction = on_touch, .sa_flags = SA_SIGINFO,
	};
	struct sigaction before;
	const uint64_t part = 256 << 10;

	sigaction(SIGSEGV, &touched, &before);
	test_counts();
	overtaken(part / 2, part / 4, part / 4, false,
		  "the begin of what is being copied is overwritten");
	overtaken(part / 2, 2 * part, 2 * part, false, "more than that");
	overtaken(part + part / 2, part / 2, 0, false,
		  "what has been copied stays whole");
	overtaken(part + part / 2, part, 0, false,
		  "just up to where it is being copied");
	overtaken(part + part / 2, part + 64, part + 64, false,
		  "a record more than that");
	overtaken(part / 2, 5 * part, SIZE_MAX, false,
		  "all is overwritten: once more");
	overtaken(part / 2, LARGE - RAS_RECORD_MAX, SIZE_MAX, false,
		  "all of it, and no more");
	overtaken(part / 2, 5 * part, 0, true, "always: none are whole");
	sigaction(SIGSEGV, &before, NULL);
}

/* ---- rastrace/ring.h ---- */

static void test_header(void)
{
	static const struct {
		uint64_t stamp;
		uint32_t length;
		uint64_t left;
		bool valid;
	} rows[] = {
		{ 800 ^ KEY, 48, 48, true },
		{ 800 ^ KEY, 48, 47, false },
		{ 800 ^ KEY, 49, 56, true },
		{ 800 ^ KEY, 49, 55, false },
		{ 800 ^ KEY, 47, 48, false },
		{ 800 ^ KEY, RAS_RECORD_MAX, 20000, true },
		{ 800 ^ KEY, RAS_RECORD_MAX + 1, 20000, false },
		{ 808 ^ KEY, 48, 48, false },
		{ 800, 48, 48, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct ras_record record = {
			.stamp = rows[i].stamp, .length = rows[i].length,
		};

		tap_is(ras_record_valid(&record, 800, rows[i].left, KEY),
		       rows[i].valid, "%u bytes, room for %llu",
		       rows[i].length, (unsigned long long)rows[i].left);
	}
	tap_is(ras_slice_oldest(0, SMALL), 0, "oldest of nothing");
	tap_is(ras_slice_oldest(SMALL - 1, SMALL), 0, "of less than a lap");
	tap_is(ras_slice_oldest(SMALL, SMALL), RAS_RECORD_MAX, "of a lap");
	tap_is(ras_slice_oldest(SMALL + 8, SMALL), RAS_RECORD_MAX + 8,
	       "of more");
}

/* Bytes that no copy has looked at: what ends after them is no record. */
static void test_walk(void)
{
	static struct ras_record records[3] = {
		{ .stamp = 800 ^ KEY, .length = 48 },
		{ .stamp = 848 ^ (KEY + 1), .length = 48 },
		{ .stamp = 896 ^ KEY, .length = 49 },
	};
	const struct ring ring = {
		.data = (void *)records, .first = 800, .head = 944,
	};
	struct ring_walk walk = { .position = 800 };

	tap_ok(ring_next(&ring, KEY, &walk) == records && walk.position == 848,
	       "the first of a walk");
	tap_ok(!ring_next(&ring, KEY, &walk) && walk.position == 944 &&
	       walk.damaged == 96, "no other, and all is counted");
	tap_ok(!ring_next(&ring, KEY, &walk) && walk.damaged == 96,
	       "nothing after the end");
	records[2].length = 48;
	walk = (struct ring_walk){ .position = 848 };
	tap_ok(ring_next(&ring, KEY, &walk) == &records[2] &&
	       walk.damaged == 48, "the one after the damage");
}

/* The writer's functions leave what the protocol says. */
static void test_writer(void)
{
	static uint8_t kept[sizeof(memory)];
	unsigned int bad = 0;

	ring_reset(SMALL);
	for (uint32_t i = 0; i < 500; i++)
		record_write(RAS_RECORD_HEADER + i);
	memcpy(kept, memory, sizeof(memory));
	ring_reset(SMALL);
	for (uint32_t i = 0; i < 500; i++) {
		struct ras_record *record;

		bad += !ras_slice_take(slice) || ras_slice_take(slice);
		record = ras_slice_place(slice, SMALL);
		memset(record, slice->head >> 3 & 0xff,
		       RAS_RECORD_HEADER + i);
		*record = (struct ras_record){ .seq = i };
		ras_slice_publish(slice, record, RAS_RECORD_HEADER + i, KEY);
	}
	tap_is(bad, 0, "a slice is taken by one at a time");
	tap_ok(!memcmp(kept, memory, sizeof(memory)), "the same records");
}

int main(void)
{
	test_header();
	test_walk();
	test_writer();
	test_lengths();
	test_large();
	test_overtaken();
	test_all_states();
	test_slack();
	test_tail();
	test_forged();
	test_damage();
	return tap_done();
}

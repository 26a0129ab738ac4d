// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of a slice (rastrace/ring.h) with threads instead of what
 * nests on a CPU: writers that share one CPU's slices, readers that copy them
 * all the time. No record is damaged, none is lost that had a slice, none is
 * counted twice. test_ring.sh runs this under gcc's sanitizers.
 */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
#include <rastrace/ring.h>
#include "tap.h"

/* A reader's copy may be overwritten while it is made, and it finds out itself:
 * that is no race to report. */
__attribute__((no_sanitize_thread))
static void racy_copy(void *to, const void *from, size_t size)
{
	typedef volatile uint64_t __attribute__((may_alias)) word;
	const word *words = from;

	for (size_t i = 0; i < size / 8; i++)
		((word *)to)[i] = words[i];
}

#define memcpy racy_copy
#include "lib/buffer/ring.c"
#undef memcpy

#define KEY		0x9e3779b97f4a7c15ULL
#define LEVELS		(1 + RAS_NEST_LEVELS)
#define SIZE		(64u << 10)
#define WRITERS		6
#define READERS		2
#define WORDS_MAX	((RAS_RECORD_MAX - RAS_RECORD_HEADER) / 8)

static unsigned long attempts = 10000;	/* of each writer */

static union slice {
	struct ras_slice slice;
	uint8_t bytes[sizeof(struct ras_slice) + SIZE + RAS_RECORD_MAX];
} slices[LEVELS];
static uint64_t recorded[LEVELS];	/* under the slice's lock */
static bool ended;

struct reader {
	unsigned long copies, records;
	const char *wrong;
};

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Each word of the data has its writer and its position. */
static uint64_t word_of(uint32_t seq, unsigned int level, unsigned int i)
{
	return ((uint64_t)seq << 32 | level << 16 | i) * 0x9e3779b97f4a7c15ULL;
}

static bool level_write(unsigned int level, unsigned int words)
{
	struct ras_slice *slice = &slices[level].slice;
	struct ras_record *record;
	uint64_t *data;

	if (!ras_slice_take(slice))
		return false;
	record = ras_slice_place(slice, SIZE);
	record->seq = recorded[level]++;
	record->point = level;
	data = (void *)(record + 1);
	for (unsigned int i = 0; i < words; i++)
		data[i] = word_of(record->seq, level, i);
	ras_slice_publish(slice, record, RAS_RECORD_HEADER + 8 * words, KEY);
	return true;
}

static void *writer_run(void *arg)
{
	uint64_t state = (uintptr_t)arg * 0x2545f4914f6cdd1dULL + 1;

	for (unsigned long i = 0; i < attempts; i++) {
		unsigned int words = random_next(&state) % (WORDS_MAX + 1);
		unsigned int level = 0;

		if (i % 64 == 0)	/* readers get a turn */
			usleep(50);
		while (level < LEVELS && !level_write(level, words))
			level++;
		if (level == LEVELS)
			__atomic_add_fetch(&slices[0].slice.dropped, 1,
					   __ATOMIC_RELAXED);
	}
	return NULL;
}

static bool record_right(const struct ras_record *record, unsigned int level)
{
	const uint64_t *data = (const void *)(record + 1);
	unsigned int words = (record->length - RAS_RECORD_HEADER) / 8;

	for (unsigned int i = 0; i < words; i++)
		if (data[i] != word_of(record->seq, level, i))
			return false;
	return record->point == level;
}

static void copy_check(struct reader *reader, unsigned int level, uint8_t *out)
{
	struct ring_walk walk;
	const struct ras_record *record;
	struct ring ring;
	uint32_t next = 0;
	uint64_t count = 0;

	ring_copy(&ring, &slices[level].slice, SIZE, KEY, 0, out);
	walk = (struct ring_walk){ .position = ring.first };
	while ((record = ring_next(&ring, KEY, &walk))) {
		if (!record_right(record, level))
			reader->wrong = "its data";
		if (count++ && record->seq != next)
			reader->wrong = "its sequence";
		next = record->seq + 1;
	}
	if (walk.damaged)
		reader->wrong = "bytes between records";
	if (count != ring.count)
		reader->wrong = "how many there are";
	reader->copies++;
	reader->records += count;
}

static void *reader_run(void *arg)
{
	struct reader *reader = arg;
	uint8_t *out = malloc(SIZE);

	if (!out)
		return NULL;
	do {
		for (unsigned int level = 0; level < LEVELS; level++)
			copy_check(reader, level, out);
		usleep(50);
	} while (!__atomic_load_n(&ended, __ATOMIC_RELAXED));
	free(out);
	return NULL;
}

static void threads_run(struct reader *readers)
{
	pthread_t threads[WRITERS + READERS];
	int bad = 0;

	for (size_t i = 0; i < READERS; i++)
		bad += pthread_create(&threads[WRITERS + i], NULL, reader_run,
				      &readers[i]) != 0;
	for (size_t i = 0; i < WRITERS; i++)
		bad += pthread_create(&threads[i], NULL, writer_run,
				      (void *)i) != 0;
	if (bad)
		tap_bail("no threads");
	for (size_t i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&ended, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < READERS; i++)
		pthread_join(threads[WRITERS + i], NULL);
}

int main(int argc, char **argv)
{
	struct reader readers[READERS] = { { 0 } }, last = { 0 };
	uint64_t sum;
	static uint8_t out[SIZE];

	if (argc > 1)
		attempts = strtoul(argv[1], NULL, 0);
	threads_run(readers);
	sum = slices[0].slice.dropped;
	for (unsigned int level = 0; level < LEVELS; level++) {
		tap_is(slices[level].slice.records, recorded[level],
		       "level %u: each record is counted once", level);
		tap_is(slices[level].slice.lock, 0, "and its slice is free");
		sum += recorded[level];
		copy_check(&last, level, out);
	}
	tap_is(sum, WRITERS * attempts, "each attempt is recorded or dropped");
	for (int i = 0; i < READERS; i++) {
		tap_diag("%lu copies, %lu records", readers[i].copies,
			 readers[i].records);
		tap_str(readers[i].wrong, NULL, "reader %d", i);
		tap_ok(readers[i].records, "had records");
	}
	tap_str(last.wrong, NULL, "what is there at the end");
	return tap_done();
}

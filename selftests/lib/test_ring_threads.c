// SPDX-License-Identifier: GPL-2.0
/*
 * A slice that several threads write, as kernel code does (rastrace/ring.h),
 * while others copy it: what comes out are whole records, in a row, and none is
 * counted that isn't there.
 */
#include <pthread.h>
#include "tap.h"
#include <rastrace/ring.h>
#include "lib/buffer/ring.h"

#define SIZE	(64u << 10)
#define KEY	0x5a5a12345678abcdULL
#define WRITERS	3
#define READERS	2
#define RECORDS	1000000		/* of each writer, with those dropped */

static union {
	struct ras_slice slice;
	uint8_t bytes[sizeof(struct ras_slice) + SIZE + RAS_RECORD_MAX];
} memory;

static bool done;

struct writer {
	pthread_t thread;
	uint32_t random;
	uint64_t recorded, dropped;
};

struct reader {
	pthread_t thread;
	uint64_t copies, records, wrong;
};

static uint32_t random_next(uint32_t *random)
{
	*random = *random * 1103515245 + 12345;
	return *random >> 16;
}

/* The data are the low byte of the number. */
static bool record_write(uint32_t length)
{
	struct ras_slice *slice = &memory.slice;
	struct ras_record *record;
	uint32_t seq;

	if (!ras_slice_take(slice))
		return false;
	record = ras_slice_place(slice, SIZE);
	seq = slice->records;
	memset(record + 1, seq, length - sizeof(*record));
	record->seq = seq;
	ras_slice_publish(slice, record, length, KEY);
	return true;
}

static void writer_write(struct writer *w)
{
	for (unsigned int i = 0; i < RECORDS; i++) {
		uint32_t length = RAS_RECORD_HEADER + random_next(&w->random) %
				  (i % 5 ? 200 : RAS_RECORD_MAX -
				   RAS_RECORD_HEADER + 1);

		if (record_write(length))
			w->recorded++;
		else
			w->dropped++;
	}
}

static void *writer_run(void *context)
{
	writer_write(context);
	return NULL;
}

/* By another name, for scripts/sanitize.thread: what it writes is read. */
static void *writer_run_beside(void *context)
{
	writer_write(context);
	return NULL;
}

static bool data_right(const struct ras_record *record)
{
	const uint8_t *data = (const void *)record;

	for (uint32_t i = sizeof(*record); i < record->length; i++)
		if (data[i] != (uint8_t)record->seq)
			return false;
	return true;
}

static void copy_check(struct reader *reader, uint8_t *out)
{
	const struct ras_record *record;
	struct ring_walk walk = { 0 };
	struct ring ring;
	uint64_t count = 0;
	uint32_t last = 0;

	ring_copy(&ring, &memory.slice, SIZE, KEY, 0, out);
	walk.position = ring.first;
	while ((record = ring_next(&ring, KEY, &walk))) {
		reader->wrong += !data_right(record) ||
				 (count && record->seq != last + 1);
		last = record->seq;
		count++;
	}
	reader->wrong += walk.damaged || count != ring.count;
	reader->records += count;
	reader->copies++;
}

static void *reader_run(void *context)
{
	uint8_t *out = aligned_alloc(8, SIZE);

	if (!out)
		tap_bail("no memory");
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
		copy_check(context, out);
	copy_check(context, out);
	free(out);
	return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), void *context)
{
	if (pthread_create(thread, NULL, run, context))
		tap_bail("no thread");
}

static void writers_run(void *(*run)(void *))
{
	uint64_t before = memory.slice.records, recorded = 0, all = 0;
	struct writer writers[WRITERS] = { 0 };

	for (int i = 0; i < WRITERS; i++) {
		writers[i].random = i;
		start(&writers[i].thread, run, &writers[i]);
	}
	for (int i = 0; i < WRITERS; i++) {
		pthread_join(writers[i].thread, NULL);
		recorded += writers[i].recorded;
		all += writers[i].recorded + writers[i].dropped;
	}
	tap_is(memory.slice.records - before, recorded, "counted once each");
	tap_is(all, WRITERS * RECORDS, "recorded or dropped");
}

int main(void)
{
	struct reader readers[READERS] = { 0 };

	writers_run(writer_run);
	for (int i = 0; i < READERS; i++)
		start(&readers[i].thread, reader_run, &readers[i]);
	writers_run(writer_run_beside);
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	for (int i = 0; i < READERS; i++) {
		pthread_join(readers[i].thread, NULL);
		tap_is(readers[i].wrong, 0, "reader %d: nothing but records",
		       i + 1);
		tap_diag("%lu copies, %lu records", readers[i].copies,
			 readers[i].records);
	}
	return tap_done();
}

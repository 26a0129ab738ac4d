// SPDX-License-Identifier: GPL-2.0
/* librastrace's memory tracker: the stream has the bytes that its header
 * describes, also when the ring is full or wraps, and when threads fill it. */
#include <errno.h>
#include <pthread.h>
#include <rastrace_nfmt.h>
#include <sched.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"

static char stream[1 << 24];
static size_t stream_size;

/* What a program does: read until there is nothing. */
static void stream_drain(void)
{
	struct nfmt_Buffer buffer = nfmt_read();

	while (buffer.start != buffer.end) {
		size_t size = buffer.end - buffer.start;

		if (stream_size + size > sizeof(stream))
			tap_bail("the stream is too long");
		memcpy(stream + stream_size, buffer.start, size);
		stream_size += size;
		buffer = nfmt_read();
	}
}

static void stream_start(void)
{
	nfmt_init();
	stream_size = 0;
}

static int32_t word_at(size_t at)
{
	int32_t word;

	memcpy(&word, stream + at, sizeof(word));
	return word;
}

/* Bytes of the record at `at`; 0: there is none. */
static size_t record_size(size_t at)
{
	switch (at + 4 <= stream_size ? word_at(at) : -1) {
	case NFMT_MALLOC:
		return 4 + sizeof(void *) + 16;
	case NFMT_FREE:
		return 4 + sizeof(void *);
	case NFMT_SYMBOL:
		return 8 + (strlen(stream + at + 8) + 1 + 3) / 4 * 4;
	case NFMT_OUT_OF_MEMORY:
		return 4;
	}
	return 0;
}

static size_t count_type(int32_t type)
{
	size_t at = 0, count = 0, size;

	for (; (size = record_size(at)); at += size)
		count += word_at(at) == type;
	return at == stream_size ? count : SIZE_MAX;
}

static void *pointer_at(size_t at)
{
	void *p;

	memcpy(&p, stream + at, sizeof(p));
	return p;
}

/* As rastrace_nfmt.h draws it. */
static void test_bytes(void)
{
	void *p = (void *)(uintptr_t)0x1122334455667788;
	unsigned char expected[128];
	size_t size = 0;

#define PUT(bytes, n) (memcpy(expected + size, bytes, n), size += (n))
#define PUT_WORD(word) PUT((&(int32_t){ word }), 4)
	PUT_WORD(2);
	PUT_WORD(1);
	PUT("test\0\0\0", 8);
	PUT_WORD(2);
	PUT_WORD(6);
	PUT("a.c", 4);
	PUT_WORD(0);
	PUT(&p, sizeof(p));
	PUT_WORD(1024);
	PUT_WORD(1);
	PUT_WORD(6);
	PUT_WORD(42);
	PUT_WORD(1);
	PUT(&p, sizeof(p));
	stream_start();
	nfmt_record_malloc(p, 1024, "test", "a.c", 42);
	nfmt_record_free(p);
	stream_drain();
	tap_is(size, sizeof(p) == 8 ? 68 : 60, "a malloc and a free: so long");
	tap_ok(stream_size == size && !memcmp(stream, expected, size),
	       "  and they are these bytes");
	nfmt_record_malloc(p, 5, "test", "a.c", 43);
	stream_drain();
	tap_is(stream_size - size, 4 + sizeof(p) + 16,
	       "a name is defined once");
}

static void test_names(void)
{
	stream_start();
	nfmt_record_malloc(&stream, 1, "", NULL, 1);
	stream_drain();
	tap_is(count_type(NFMT_SYMBOL), 0, "an empty name is not defined");
	tap_is(word_at(4 + sizeof(void *) + 4), 0, "  and is 0");
	nfmt_record_malloc(&stream, 1, "same", "same", 1);
	stream_drain();
	tap_is(count_type(NFMT_SYMBOL), 1, "one name for both is defined once");
	nfmt_init();
	nfmt_record_malloc(&stream, 1, "same", "same", 1);
	stream_size = 0;
	stream_drain();
	tap_is(count_type(NFMT_SYMBOL), 1, "nfmt_init() forgets names");
	tap_is(word_at(4), 1, "  and numbers start again");
}

/* More names than there is room for: the rest is unknown, but no record is
 * lost. */
static void test_many_names(void)
{
	size_t at = 0, size, unknown = 0;
	int32_t next = 1;
	bool law = true;
	char name[16];

	stream_start();
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "tag %d", i);
		nfmt_record_malloc(&stream, i, name, "", i);
		stream_drain();
	}
	for (; (size = record_size(at)); at += size) {
		if (word_at(at) == NFMT_MALLOC)
			unknown += word_at(at + 4 + sizeof(void *) + 4) == -1;
		if (word_at(at) != NFMT_SYMBOL)
			continue;
		law &= word_at(at + 4) == next;
		next += strlen(stream + at + 8) + 1;
	}
	tap_is(count_type(NFMT_MALLOC), 300, "with many names all is recorded");
	tap_is(count_type(NFMT_SYMBOL), NFMT_STRINGS, "as many names as said");
	tap_is(unknown, 300 - NFMT_STRINGS, "the others are unknown");
	tap_ok(law, "each number follows from the name before");
}

/* Whatever place in the table they have. */
static void test_prefixes(void)
{
	size_t defined = 0;
	char name[16];

	for (int i = 0; i < 2000; i++) {
		stream_start();
		snprintf(name, sizeof(name), "name%d", i);
		nfmt_record_malloc(&stream, i, name, "name", i);
		stream_drain();
		defined += count_type(NFMT_SYMBOL);
	}
	tap_is(defined, 4000, "the beginning of a name is another one");
}

static void test_long_names(void)
{
	static char name[NFMT_STRING_BYTES + 1];

	memset(name, 'a', NFMT_STRING_BYTES - 2);
	stream_start();
	nfmt_record_malloc(&stream, 1, name, "b", 1);
	stream_drain();
	tap_is(count_type(NFMT_SYMBOL), 1, "a name that fits exactly");
	memset(name, 'a', NFMT_STRING_BYTES - 1);
	stream_start();
	nfmt_record_malloc(&stream, 1, name, "b", 1);
	stream_drain();
	tap_is(count_type(NFMT_SYMBOL), 1, "one that is too long isn't defined");
	tap_is(count_type(NFMT_MALLOC), 1, "  its record is");
}

/* Full: one marker, then nothing until it is read; what was dropped takes its
 * new name with it. */
static void test_full(void)
{
	size_t mallocs, frees;

	stream_start();
	for (int i = 0; i < 5000; i++)
		nfmt_record_malloc(&stream, i, "tag", "file", i);
	nfmt_record_malloc(&stream, 1, "later", "later.c", 1);
	nfmt_record_free(&stream);
	stream_drain();
	mallocs = count_type(NFMT_MALLOC);
	frees = count_type(NFMT_FREE);
	tap_ok(stream_size <= NFMT_STREAM_SIZE &&
	       stream_size > NFMT_STREAM_SIZE - 32, "it fills the ring");
	tap_is(count_type(NFMT_OUT_OF_MEMORY), 1, "then there is one marker");
	tap_is(word_at(stream_size - 4), NFMT_OUT_OF_MEMORY, "  at the end");
	tap_ok(mallocs > 500 && !frees, "nothing is recorded after it");
	nfmt_record_malloc(&stream, 1, "later", "later.c", 1);
	stream_drain();
	tap_is(count_type(NFMT_MALLOC), mallocs + 1,
	       "when it has been read, recording goes on");
	tap_is(count_type(NFMT_SYMBOL), 4, "  and defines the names");
}

/* A last record that would leave no room for the marker. */
static void test_exactly_full(void)
{
	size_t left = NFMT_STREAM_SIZE;

	stream_start();
	if (sizeof(void *) == 8) {
		nfmt_record_malloc(&stream, 1, "", "", 1);
		left -= 28;
	}
	for (; left; left -= 4 + sizeof(void *))
		nfmt_record_free(&stream);
	stream_drain();
	tap_is(count_type(NFMT_OUT_OF_MEMORY), 1,
	       "records that fill it exactly: the marker instead of the last");
	tap_is(stream_size, NFMT_STREAM_SIZE - sizeof(void *), "  and no more");
}

/* What was given out stays as it is until the next call. */
static void test_kept(void)
{
	struct nfmt_Buffer buffer;
	static char before[NFMT_STREAM_SIZE];
	size_t size;

	stream_start();
	nfmt_record_malloc(&stream, 1, "tag", "file", 1);
	buffer = nfmt_read();
	size = buffer.end - buffer.start;
	memcpy(before, buffer.start, size);
	for (int i = 0; i < 5000; i++)
		nfmt_record_free(stream + i);
	tap_ok(!memcmp(before, buffer.start, size),
	       "what is being read isn't overwritten");
	memcpy(stream, before, size);
	stream_size = size;
	stream_drain();
	tap_ok(count_type(NFMT_FREE) > 1000, "what came since follows");
}

/* Records cross the end of the ring. */
static void test_wrap(void)
{
	int32_t expected = 0;
	size_t at = 0, size;
	bool order = true;

	stream_start();
	for (int i = 0; i < 20000; i++) {
		nfmt_record_malloc(&stream, i, "tag", "file", i);
		if (i % 7 == 0)
			stream_drain();
	}
	stream_drain();
	for (; (size = record_size(at)); at += size)
		if (word_at(at) == NFMT_MALLOC)
			order &= word_at(at + 4 + sizeof(void *)) == expected++;
	tap_ok(order && expected == 20000 && at == stream_size,
	       "%d records, round and round", expected);
}

#define THREADS		4
#define EACH		100000

static void *thread_record(void *number)
{
	char tag[16];

	snprintf(tag, sizeof(tag), "thread %d", (int)(intptr_t)number);
	for (intptr_t i = 0; i < EACH; i++) {
		nfmt_record_malloc((void *)(i + 1), (intptr_t)number, tag,
				   "file", i);
		if (i % 100 == 0)
			sched_yield();
	}
	return NULL;
}

/* Each thread's records are in its order; some are missing after a marker. */
static void check_threads(void)
{
	intptr_t last[THREADS] = { 0 };
	size_t at = 0, size, count = 0;
	bool order = true;

	for (; (size = record_size(at)); at += size) {
		intptr_t p = (intptr_t)pointer_at(at + 4);
		size_t thread;

		if (word_at(at) != NFMT_MALLOC)
			continue;
		thread = word_at(at + 4 + sizeof(void *));
		order &= thread < THREADS && p > last[thread % THREADS];
		last[thread % THREADS] = p;
		count++;
	}
	tap_is(at, stream_size, "of %d threads: whole records", THREADS);
	tap_ok(order, "  in each one's order");
	tap_is(count_type(NFMT_SYMBOL), THREADS + 1, "  with all names");
	tap_ok(count == THREADS * EACH || count_type(NFMT_OUT_OF_MEMORY),
	       "  none is missing without a marker (%zu of %d)", count,
	       THREADS * EACH);
	tap_ok(count > 1000, "  and many are there");
}

static void test_threads(void)
{
	pthread_t threads[THREADS];
	int ended = 0;

	stream_start();
	for (intptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread_record,
				   (void *)i))
			tap_bail("cannot start a thread");
	while (ended < THREADS) {
		stream_drain();
		if (!pthread_tryjoin_np(threads[ended], NULL))
			ended++;
	}
	stream_drain();
	check_threads();
}

/* errno is what it was; a child has a tracker of its own. */
static void test_surroundings(void)
{
	int status = 1;
	pid_t child;

	stream_start();
	errno = ENOTTY;
	nfmt_record_malloc(&stream, 1, "tag", "file", 1);
	nfmt_record_free(&stream);
	nfmt_read();
	tap_is(errno, ENOTTY, "errno is kept");
	child = fork();
	if (!child) {
		nfmt_init();
		nfmt_record_free(&stream);
		_exit(nfmt_read().start == NULL);
	}
	tap_ok(child > 0 && waitpid(child, &status, 0) == child && !status,
	       "a child starts anew");
}

int main(void)
{
	struct nfmt_Buffer buffer = nfmt_read();

	tap_ok(buffer.start == buffer.end, "nothing is there before");
	nfmt_record_free(&stream);
	stream_drain();
	tap_is(count_type(NFMT_FREE), 1, "it works without nfmt_init(), too");
	test_bytes();
	test_names();
	test_many_names();
	test_prefixes();
	test_long_names();
	test_full();
	test_exactly_full();
	test_kept();
	test_wrap();
	test_threads();
	test_surroundings();
	return tap_done();
}

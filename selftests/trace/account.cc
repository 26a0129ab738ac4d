// SPDX-License-Identifier: GPL-2.0
/*
 * A program that keeps its own account of the calls of work(), for live_whole.sh:
 * threads, recursion, calls that are left by longjmp(), by exceptions and by the
 * end of a thread, and coroutines, which go on in whatever thread takes them.
 *
 *	account THREADS CALLS KEPT
 *
 * prints a line for each call whose result is a multiple of KEPT: its number,
 * its result, and ns around it and inside of it; then how many calls returned,
 * how many were left, and how many of depth 0, 1, 2, 3 returned.
 *
 *	account end|exec|leader
 *
 * leaves ending() by the end of the process; by sleep(1) in its place; stays in
 * it, in a thread that survives the first one.
 *
 *	account absent COUNT
 *
 * makes so many calls of paged_record(), paged_hist() and paged_count(), whose
 * results are addresses in pages that are absent then: the n-th page has 3 * n.
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define DEPTHS		4
#define COROUTINES	64
#define STACK		(64 << 10)

enum how { RETURN, JUMP, THROW, CAUGHT, EXIT_THREAD, SWITCH };

struct coroutine {
	ucontext_t own, back;
	char *stack;
	unsigned int depth;
	bool begun;
};

struct trip {
	enum how how;
	struct coroutine *coroutine;
};

static uint64_t next = 1, returned[DEPTHS], left;
static unsigned int kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread jmp_buf out;
static struct coroutine coroutines[COROUTINES], *idle[COROUTINES];
static unsigned int idle_count;

static uint64_t now()
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static uint64_t ids_take(unsigned int count)
{
	return __atomic_fetch_add(&next, count, __ATOMIC_RELAXED);
}

static void call(uint64_t id, unsigned int depth, const struct trip *trip);

extern "C" __attribute__((noinline))
uint64_t work(uint64_t id, unsigned int depth, const struct trip *trip,
	      uint64_t *inside)
{
	uint64_t begin = now();

	if (depth == 1 && trip->how == CAUGHT) {
		try {
			call(id + 1, 0, trip);
		} catch (int) {
		}
	} else if (depth) {
		call(id + 1, depth - 1, trip);
	} else if (trip->how == JUMP) {
		longjmp(out, 1);
	} else if (trip->how == THROW || trip->how == CAUGHT) {
		throw 1;
	} else if (trip->how == EXIT_THREAD) {
		pthread_exit(NULL);
	} else if (trip->how == SWITCH) {
		swapcontext(&trip->coroutine->own, &trip->coroutine->back);
	}
	*inside = now() - begin;
	return id * 3;
}

static void call(uint64_t id, unsigned int depth, const struct trip *trip)
{
	uint64_t inside, begin = now(), result, around;

	result = work(id, depth, trip, &inside);
	around = now() - begin;
	__atomic_fetch_add(&returned[depth], 1, __ATOMIC_RELAXED);
	if (result % kept)
		return;
	pthread_mutex_lock(&lock);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", id, result,
	       around, inside);
	pthread_mutex_unlock(&lock);
}

static void call_out(unsigned int depth, const struct trip *trip)
{
	uint64_t id = ids_take(depth + 1);

	if (trip->how == CAUGHT && depth)
		__atomic_fetch_add(&left, 1, __ATOMIC_RELAXED);
	else if (trip->how != RETURN)
		__atomic_fetch_add(&left, depth + 1, __ATOMIC_RELAXED);
	try {
		if (!setjmp(out))
			call(id, depth, trip);
	} catch (int) {
	}
}

static void coroutine_run(unsigned int number)
{
	struct coroutine *coroutine = &coroutines[number];
	const struct trip trip = { SWITCH, coroutine };

	call(ids_take(coroutine->depth + 1), coroutine->depth, &trip);
	coroutine->begun = false;
	swapcontext(&coroutine->own, &coroutine->back);
}

/* One that has begun or may begin; NULL: there is none. */
static struct coroutine *coroutine_take(bool begin)
{
	struct coroutine *coroutine = NULL;

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < idle_count && !coroutine; i++)
		if (begin || idle[i]->begun) {
			coroutine = idle[i];
			idle[i] = idle[--idle_count];
		}
	pthread_mutex_unlock(&lock);
	return coroutine;
}

/* Up to the next time that it gives up. */
static void coroutine_go_on(struct coroutine *coroutine)
{
	if (!coroutine->begun) {
		getcontext(&coroutine->own);
		coroutine->own.uc_stack.ss_sp = coroutine->stack;
		coroutine->own.uc_stack.ss_size = STACK;
		coroutine->begun = true;
		makecontext(&coroutine->own, (void (*)())coroutine_run, 1,
			    coroutine - coroutines);
	}
	swapcontext(&coroutine->back, &coroutine->own);
	pthread_mutex_lock(&lock);
	idle[idle_count++] = coroutine;
	pthread_mutex_unlock(&lock);
}

static void *thread_run(void *count)
{
	for (uintptr_t i = 0; i < (uintptr_t)count; i++) {
		struct trip trip = { RETURN, NULL };

		if (i % 16 == 7)
			trip.how = JUMP;
		else if (i % 16 == 2)
			trip.how = THROW;
		else if (i % 16 == 13)
			trip.how = CAUGHT;
		else if (i % 8 == 4)
			coroutine_go_on(coroutine_take(true));
		if (i + 1 == (uintptr_t)count && next % 2)
			trip.how = EXIT_THREAD;
		call_out(i % DEPTHS, &trip);
	}
	return NULL;
}

extern "C" __attribute__((noinline)) int ending(const char *how)
{
	if (!strcmp(how, "end"))
		_exit(0);
	if (!strcmp(how, "leader")) {
		sleep(20);
		return 0;
	}
	execlp("sleep", "sleep", "1", NULL);
	return 1;
}

static void *survive(void *how)
{
	ending((const char *)how);
	return NULL;
}

#define WORDS	512	/* of a page */

static const uint64_t *pages;

#define PAGED(name)						\
extern "C" __attribute__((noipa))				\
const uint64_t *name(uint64_t id)				\
{								\
	return pages + id * WORDS;				\
}

PAGED(paged_record)
PAGED(paged_hist)
PAGED(paged_count)

static int absent_run(size_t count)
{
	const uint64_t *(*const all[])(uint64_t) = {
		paged_record, paged_hist, paged_count,
	};
	size_t bytes = count * WORDS * sizeof(*pages);
	FILE *file = tmpfile();
	void *p;

	for (uint64_t i = 0, n = 0; i < count * WORDS; i++, n = i / WORDS * 3)
		if (!file || fwrite(&n, sizeof(n), 1, file) != 1)
			return 1;
	if (fflush(file))
		return 1;
	p = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fileno(file), 0);
	if (p == MAP_FAILED)
		return 1;
	pages = (const uint64_t *)p;
	for (size_t i = 0; i < count; i++)
		for (auto paged : all)
			if (madvise(p, bytes, MADV_DONTNEED) ||
			    paged(i) != pages + i * WORDS)
				return 1;
	return 0;
}

int main(int argc, char **argv)
{
	size_t threads = argc > 3 ? atoi(argv[1]) : 0;
	uintptr_t count = argc > 3 ? atoi(argv[2]) : 0;
	pthread_t *ids = (pthread_t *)calloc(threads + 1, sizeof(*ids));
	struct coroutine *coroutine;
	uint64_t sum = 0;

	if (argc == 2 && !strcmp(argv[1], "leader") &&
	    !pthread_create(ids, NULL, survive, argv[1]))
		pthread_exit(NULL);
	if (argc == 2)
		return ending(argv[1]);
	if (argc == 3 && !strcmp(argv[1], "absent"))
		return absent_run(atoi(argv[2]));
	kept = argc > 3 ? atoi(argv[3]) : 0;
	if (!kept)
		return 2;
	for (unsigned int i = 0; i < COROUTINES; i++) {
		coroutines[i].stack = (char *)malloc(STACK);
		coroutines[i].depth = i % DEPTHS;
		idle[idle_count++] = &coroutines[i];
	}
	for (size_t i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, thread_run, (void *)count))
			return 1;
	for (size_t i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	while ((coroutine = coroutine_take(false)))
		coroutine_go_on(coroutine);
	free(ids);
	for (int i = 0; i < DEPTHS; i++)
		sum += returned[i];
	printf("returned %" PRIu64 " left %" PRIu64 " depths", sum, left);
	for (int i = 0; i < DEPTHS; i++)
		printf(" %" PRIu64, returned[i]);
	putchar('\n');
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A program that keeps its own account of the calls of work(), for live_whole.sh:
 * threads, recursion, calls that are left by longjmp() and by the end of a thread,
 * and calls that go on in another thread.
 *
 *	whole THREADS CALLS
 *
 * prints a line for each call whose result is a multiple of KEPT: its number,
 * its result, and ns around it and inside of it; then how many calls returned,
 * and how many were left.
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#define KEPT	64
#define STACK	(64 << 10)

enum how { RETURN, JUMP, EXIT_THREAD, SWITCH };

static uint64_t next = 1, returned, left;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread jmp_buf out;
static __thread ucontext_t back;
static ucontext_t coroutine;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void call(uint64_t id, unsigned int depth, enum how how);

__attribute__((noinline))
uint64_t work(uint64_t id, unsigned int depth, enum how how, uint64_t *inside)
{
	uint64_t begin = now();

	if (depth)
		call(id + 1, depth - 1, how);
	else if (how == JUMP)
		longjmp(out, 1);
	else if (how == EXIT_THREAD)
		pthread_exit(NULL);
	else if (how == SWITCH)
		swapcontext(&coroutine, &back);
	*inside = now() - begin;
	return id * 3;
}

static void call(uint64_t id, unsigned int depth, enum how how)
{
	uint64_t inside, begin = now(), result, around;

	result = work(id, depth, how, &inside);
	around = now() - begin;
	__atomic_fetch_add(&returned, 1, __ATOMIC_RELAXED);
	if (result % KEPT)
		return;
	pthread_mutex_lock(&lock);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", id, result,
	       around, inside);
	pthread_mutex_unlock(&lock);
}

static void call_out(uint64_t id, unsigned int depth, enum how how)
{
	if (!setjmp(out))
		call(id, depth, how);
}

static void *thread_run(void *count)
{
	for (uintptr_t i = 0; i < (uintptr_t)count; i++) {
		unsigned int depth = i % 4;
		uint64_t id = __atomic_fetch_add(&next, depth + 1,
						 __ATOMIC_RELAXED);
		enum how how = i % 16 == 7 ? JUMP : RETURN;

		if (i + 1 == (uintptr_t)count && id % 2)
			how = EXIT_THREAD;
		if (how != RETURN)
			__atomic_fetch_add(&left, depth + 1, __ATOMIC_RELAXED);
		call_out(id, depth, how);
	}
	return NULL;
}

static void coroutine_run(void)
{
	call(__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED), 0, SWITCH);
	swapcontext(&coroutine, &back);
}

/* The coroutine runs in a thread up to the next time that it gives up. */
static void *coroutine_go_on(void *begins)
{
	static char stack[STACK];

	if (begins) {
		getcontext(&coroutine);
		coroutine.uc_stack.ss_sp = stack;
		coroutine.uc_stack.ss_size = sizeof(stack);
		makecontext(&coroutine, coroutine_run, 0);
	}
	swapcontext(&back, &coroutine);
	return NULL;
}

static void thread_join(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, argument))
		exit(1);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	size_t threads = argc > 2 ? atoi(argv[1]) : 0;
	uintptr_t count = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t *ids = calloc(threads + 1, sizeof(*ids));

	for (size_t i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, thread_run, (void *)count))
			return 1;
	for (size_t i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	/* begins in one thread, ends in another one */
	for (int i = 0; i < 64; i++) {
		thread_join(coroutine_go_on, (void *)1);
		thread_join(coroutine_go_on, NULL);
	}
	free(ids);
	printf("returned %" PRIu64 " left %" PRIu64 "\n", returned, left);
	return 0;
}

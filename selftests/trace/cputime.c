// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of work() that compute, sleep, are preempted, or end in another thread. Of
 * each a line: its number, the thread's CPU time in ns inside the call and around it;
 * of one that another thread ends "moved".
 *
 *	cputime CALLS
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define MS	1000000ULL
#define MOVED	10	/* calls that another thread ends */

enum kind { COMPUTES, SLEEPS, YIELDS, MOVES, KINDS = MOVES };

static ucontext_t outside, inside;
static volatile int ended;

static uint64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* So much of its own time */
static void compute(uint64_t ns)
{
	uint64_t begin = thread_ns();

	while (thread_ns() - begin < ns)
		;
}

__attribute__((noinline)) uint64_t work(uint64_t id, enum kind kind)
{
	uint64_t begin = thread_ns();

	compute(id % 7 * 50000);
	if (kind == SLEEPS)
		usleep(id % 3 * 1000 + 100);
	if (kind == YIELDS)
		for (int i = 0; i < 3; i++)
			sched_yield();
	if (kind == MOVES)
		swapcontext(&inside, &outside);
	compute(id % 5 * 100000);
	return thread_ns() - begin;
}

static void *calls(void *context)
{
	unsigned int count = *(unsigned int *)context;
	static uint64_t last;
	uint64_t id, begin, in, around;

	while (count--) {
		id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
		begin = thread_ns();
		in = work(id, id % KINDS);
		around = thread_ns() - begin;
		printf("%llu %llu %llu\n", (unsigned long long)id,
		       (unsigned long long)in, (unsigned long long)around);
	}
	return NULL;
}

static void *others(void *unused)
{
	while (!ended)
		;
	return unused;
}

static void move(void)
{
	static unsigned int moved;
	uint64_t id = 1000000 + ++moved;

	work(id, MOVES);
	printf("%llu moved\n", (unsigned long long)id);
	setcontext(&outside);
}

/* It goes on where another thread has stopped. */
static void *second_half(void *unused)
{
	swapcontext(&outside, &inside);
	return unused;
}

static void calls_move(void)
{
	static char stack[65536];
	pthread_t thread;

	for (int i = 0; i < MOVED; i++) {
		getcontext(&inside);
		inside.uc_stack.ss_sp = stack;
		inside.uc_stack.ss_size = sizeof(stack);
		inside.uc_link = NULL;
		makecontext(&inside, move, 0);
		swapcontext(&outside, &inside);
		pthread_create(&thread, NULL, second_half, NULL);
		pthread_join(thread, NULL);
	}
}

int main(int argc, char **argv)
{
	unsigned int count = argc > 1 ? atoi(argv[1]) : 100;
	pthread_t threads[3], other;
	cpu_set_t one;

	calls_move();
	/* a processor for all of them */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, calls, &count);
	pthread_create(&other, NULL, others, NULL);
	calls(&count);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	ended = 1;
	pthread_join(other, NULL);
	return 0;
}

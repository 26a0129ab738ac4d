// SPDX-License-Identifier: GPL-2.0
/*
 * The program of scripts/bench_burst: threads, each on a CPU of its own as far
 * as there are enough, call three functions as fast as they can, and count.
 *
 *	burst THREADS CALLS [ONE]
 *
 * Of eight calls of a thread four are burst_all(), two burst_some(), and two
 * burst_few(), of which one has 4 in its number. ONE: all on one CPU. Prints
 * "FUNCTION CALLS" for each, and "seconds S".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "given.h"

#define THREADS	64
#define KINDS	3

typedef void function(const struct outer *outer, const char *text,
		      uint64_t number);

function burst_all, burst_some, burst_few;

/* Emulated by the kernel: a hit is cheap, and many come */
__asm__(".text\n"
	".macro burst name\n"
	"	.globl	\\name\n"
	"	.type	\\name, @function\n"
	"\\name:\n"
	"	push	%rbp\n"
	"	pop	%rbp\n"
	"	ret\n"
	"	.size	\\name, . - \\name\n"
	".endm\n"
	"burst burst_all\n"
	"burst burst_some\n"
	"burst burst_few\n");

static const struct {
	const char *name;
	function *call;
} kinds[KINDS] = {
	{ "burst_all", burst_all },
	{ "burst_some", burst_some },
	{ "burst_few", burst_few },
};

static const int kind_of[8] = { 0, 1, 0, 2, 0, 1, 0, 2 };

struct thread {
	pthread_t thread;
	int cpu;
	uint64_t calls, counts[KINDS];
};

static pthread_barrier_t barrier;

/* The nth of the CPUs that there are for us */
static int cpu_nth(int n)
{
	cpu_set_t set;
	int cpu = -1;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	n %= CPU_COUNT(&set);
	while (n >= 0)
		n -= CPU_ISSET(++cpu, &set) != 0;
	return cpu;
}

static void *run(void *context)
{
	struct given given;
	const struct outer *outer = given_make(&given);
	struct thread *thread = context;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(thread->cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	pthread_barrier_wait(&barrier);
	for (uint64_t i = 0; i < thread->calls; i++) {
		int kind = kind_of[i % 8];

		kinds[kind].call(outer, GIVEN_TEXT, i);
		thread->counts[kind]++;
	}
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static struct thread threads[THREADS];
	int count = argc > 2 ? atoi(argv[1]) : 0;
	double begin;

	if (count < 1 || count > THREADS)
		return 2;
	pthread_barrier_init(&barrier, NULL, count + 1);
	for (int i = 0; i < count; i++) {
		threads[i].calls = strtoull(argv[2], NULL, 10);
		threads[i].cpu = cpu_nth(argc > 3 ? 0 : i);
		if (pthread_create(&threads[i].thread, NULL, run, &threads[i]))
			return 1;
	}
	pthread_barrier_wait(&barrier);
	begin = now();
	for (int i = 0; i < count; i++)
		pthread_join(threads[i].thread, NULL);
	printf("seconds %.3f\n", now() - begin);
	for (int kind = 0; kind < KINDS; kind++) {
		uint64_t calls = 0;

		for (int i = 0; i < count; i++)
			calls += threads[i].counts[kind];
		printf("%s %llu\n", kinds[kind].name,
		       (unsigned long long)calls);
	}
	return 0;
}

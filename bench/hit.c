// SPDX-License-Identifier: GPL-2.0
/*
 * The program whose hits scripts/bench counts the cost of. Its sites are
 * written by hand, so that the instruction under the probe, which decides what
 * a hit costs at least, is known: a nop of 5 bytes, an emulated push, a
 * single-stepped mov. There are SLOTS of each, so that all tools can be armed at
 * a time, each at a slot of its own, and be measured by turns: what disturbs
 * then disturbs all alike. The frame is described where probes are: at the begin
 * and at the return.
 *
 *	hit offset KIND SLOT	prints the file offset of a site, in hex
 *	hit serve		prints "ready"; for each line "KIND COUNT TURNS
 *				THREADS" that it reads, it calls the first COUNT
 *				slots by turns, each thread on a CPU of its own,
 *				and prints "SLOT NANOSECONDS" for each, the
 *				median over batches of calls, then "done"
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "given.h"
#include "offset.h"

#define GIVEN_NAME	"a name of thirty characters it is"

#define SLOTS		48
#define SLOT_BYTES	64
#define TURNS		4000
#define THREADS		2
#define CALLS		48	/* of a batch: much shorter than a time slice */
#define WARM		8	/* calls in front of it that aren't counted */
#define BLOCK_BYTES	512

/* What a site is given, and what is after it */
struct argument {
	struct outer outer;
	uint64_t zero;
	unsigned char block[BLOCK_BYTES];
	struct string {		/* as a std::string is */
		const char *text;
		uint64_t length;
		char local[16];
	} name;
};

typedef void site(const struct outer *outer, const char *text,
		  uint64_t number);

site bench_nop5_0, bench_push_0, bench_step_0;

__asm__(".text\n"
	".altmacro\n"
	".macro slot name, number, first, second\n"
	"	.p2align 6\n"
	"	.globl	bench_\\name\\()_\\number\n"
	"	.type	bench_\\name\\()_\\number, @function\n"
	"bench_\\name\\()_\\number:\n"
	"	.cfi_startproc\n"
	"	\\first\n"
	"	\\second\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	bench_\\name\\()_\\number, . - bench_\\name\\()_\\number\n"
	".endm\n"
	".macro slots name, first, second\n"
	"	.set	index, 0\n"
	"	.rept	48\n"
	"	slot	\\name, %index, <\\first>, <\\second>\n"
	"	.set	index, index + 1\n"
	"	.endr\n"
	".endm\n"
	"slots nop5, <.byte 0x0f, 0x1f, 0x44, 0, 0>, <nop>\n"
	"slots push, <push %rbp>, <pop %rbp>\n"
	"slots step, <mov %rdi, %rax>, <nop>\n"
	".noaltmacro\n");

static const struct {
	const char *name;
	site *first;
} kinds[] = {
	{ "nop5", bench_nop5_0 },
	{ "push", bench_push_0 },
	{ "step", bench_step_0 },
};

struct work {
	pthread_t thread;
	pthread_barrier_t *barrier;
	const unsigned char *first;
	int cpu, count, turns;
	double (*ns)[TURNS];
};

static site *slot(const void *first, int number)
{
	return (site *)((uintptr_t)first + SLOT_BYTES * number);
}

static double batch(site *call, const struct outer *outer)
{
	struct timespec begin, end;

	for (int i = 0; i < WARM; i++)
		call(outer, GIVEN_TEXT, i);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < CALLS; i++)
		call(outer, GIVEN_TEXT, i);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((end.tv_sec - begin.tv_sec) * 1e9 +
		(end.tv_nsec - begin.tv_nsec)) / CALLS;
}

static void *work_run(void *context)
{
	struct given given;
	struct argument argument = {
		*given_make(&given), 0, "block",
		{ GIVEN_NAME, sizeof(GIVEN_NAME) - 1 },
	};
	struct work *work = context;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(work->cpu, &cpus);
	pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	pthread_barrier_wait(work->barrier);
	for (int turn = 0; turn < work->turns; turn++) {
		for (int i = 0; i < work->count; i++)
			work->ns[i][turn] = batch(slot(work->first, i),
						&argument.outer);
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of all threads' batches */
static void print(struct work *work, int threads)
{
	static double all[THREADS * TURNS];
	int turns = work->turns;

	for (int i = 0; i < work->count; i++) {
		for (int t = 0; t < threads; t++)
			memcpy(all + t * turns, work[t].ns[i],
			       turns * sizeof(*all));
		qsort(all, threads * turns, sizeof(*all), compare);
		printf("%d %.1f\n", i, all[threads * turns / 2]);
	}
	puts("done");
}

static int measure(const void *first, int count, int turns, int threads)
{
	static double ns[THREADS][SLOTS][TURNS];
	struct work work[THREADS];
	pthread_barrier_t barrier;

	if (count > SLOTS || turns < 1 || turns > TURNS || threads < 1 ||
	    threads > THREADS)
		return 1;
	pthread_barrier_init(&barrier, NULL, threads);
	for (int t = 0; t < threads; t++) {
		work[t] = (struct work){
			.barrier = &barrier, .first = first, .cpu = t,
			.count = count, .turns = turns, .ns = ns[t],
		};
		if (pthread_create(&work[t].thread, NULL, work_run, &work[t]))
			return 1;
	}
	for (int t = 0; t < threads; t++)
		pthread_join(work[t].thread, NULL);
	print(work, threads);
	return 0;
}

static const void *kind_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i].name, name))
			return kinds[i].first;
	}
	return NULL;
}

static int serve(void)
{
	int count, turns, threads;
	char line[128], kind[16];

	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%15s %d %d %d", kind, &count, &turns,
			   &threads) != 4 || !kind_find(kind) ||
		    measure(kind_find(kind), count, turns, threads))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "serve"))
		return serve();
	if (argc == 4 && !strcmp(argv[1], "offset") && kind_find(argv[2]))
		return offset_print(slot(kind_find(argv[2]),
					 atoi(argv[3])));
	fputs("usage: hit serve\n"
	      "       hit offset nop5|push|step SLOT\n", stderr);
	return 2;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Pairs of malloc and free, six calls deep: what scripts/bench_heap measures.
 *
 *	heap PAIRS [FILE]	prints nanoseconds of processor time per pair;
 *				begins when the file is there
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void *volatile kept;

static __attribute__((noipa)) void pair(unsigned int depth, size_t size)
{
	if (depth) {
		pair(depth - 1, size);
		kept = NULL;
		return;
	}
	kept = malloc(size);
	free(kept);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	long pairs = argc > 1 ? atol(argv[1]) : 1;
	double begin;

	while (argc > 2 && access(argv[2], F_OK))
		usleep(1000);
	begin = now();
	for (long i = 0; i < pairs; i++)
		pair(5, 16 + i % 64 * 8);
	printf("%.1f\n", (now() - begin) / pairs);
	return 0;
}

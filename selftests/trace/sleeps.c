// SPDX-License-Identifier: GPL-2.0
/*
 * A program that keeps its own account of how long it sleeps, for live_kcall.sh.
 *
 *	sleeps THREADS CALLS SLOW
 *
 * Each thread sleeps so many times, once in 16 times for SLOW ns, else for hardly
 * anything; how long in ns also says which call it is. It prints a line for each:
 * that number, and the ns around the call.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S	1000000000ULL

static unsigned int calls;
static uint64_t slow;

struct sleeper {
	pthread_t thread;
	unsigned int first;	/* call */
	uint64_t *ns, *around;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void *sleeper_run(void *context)
{
	struct sleeper *s = context;

	for (unsigned int i = 0; i < calls; i++) {
		uint64_t ns = (i % 16 == 15 ? slow : 1) + s->first + i;
		struct timespec t = { ns / NS_PER_S, ns % NS_PER_S };
		uint64_t start = now();

		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
		s->around[i] = now() - start;
		s->ns[i] = ns;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int threads = argc == 4 ? atoi(argv[1]) : 0;
	struct sleeper *sleepers = calloc(threads + 1, sizeof(*sleepers));

	if (!threads || !sleepers)
		return 2;
	calls = atoi(argv[2]);
	slow = strtoull(argv[3], NULL, 10);
	for (unsigned int i = 0; i < threads; i++) {
		struct sleeper *s = &sleepers[i];

		s->first = i * calls;
		s->ns = calloc(2 * calls, sizeof(*s->ns));
		s->around = s->ns + calls;
		if (!s->ns || pthread_create(&s->thread, NULL, sleeper_run, s))
			return 1;
	}
	for (unsigned int i = 0; i < threads; i++) {
		struct sleeper *s = &sleepers[i];

		pthread_join(s->thread, NULL);
		for (unsigned int k = 0; k < calls; k++)
			printf("%" PRIu64 " %" PRIu64 "\n", s->ns[k],
			       s->around[k]);
		free(s->ns);
	}
	free(sleepers);
	return 0;
}

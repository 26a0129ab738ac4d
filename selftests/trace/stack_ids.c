// SPDX-License-Identifier: GPL-2.0
/*
 * For live_stack_ids: THREADS threads that call leaf() on 64 ways, COUNT times
 * each. Prints "way address address ...", innermost first: what the unwinder of the
 * compiler's library says of the callers of leaf(), once for each way.
 *
 *	stack_ids COUNT
 *
 * A first call, of way 64, is for who makes tables for unwinding, and waited for.
 */
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS	16
#define LEVELS	6
#define FRAMES	32

static void *said[1 << LEVELS][FRAMES];
static int frames[1 << LEVELS];
static unsigned int count;
static _Bool asked;

__attribute__((noipa)) unsigned int leaf(unsigned int way)
{
	if (asked)
		frames[way] = backtrace(said[way], FRAMES);
	return way;
}

/* Its two calls differ in where they return to. Frames of many sizes are at the
 * ends of pages, too. */
__attribute__((noipa)) unsigned int walk(unsigned int way, unsigned int level)
{
	void *room = __builtin_alloca(8 + 104 * way);

	__asm__ volatile("" :: "r" (room) : "memory");
	if (!level--)
		return leaf(way) + 1;
	if (way >> level & 1) {
		way = walk(way, level);
		__asm__ volatile("# one");
		return way + 2;
	}
	way = walk(way, level);
	__asm__ volatile("# the other");
	return way + 3;
}

static void *run(void *context)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < count; i++)
		sum += walk((i + (size_t)context) % (1 << LEVELS), LEVELS);
	return (void *)(size_t)sum;
}

static void threads_run(unsigned int threads)
{
	pthread_t ids[THREADS];

	for (size_t i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, run, (void *)i))
			exit(1);
	for (size_t i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
}

int main(int argc, char **argv)
{
	leaf(1 << LEVELS);
	usleep(200000);
	asked = 1;
	count = 1 << LEVELS;
	threads_run(1);
	asked = 0;
	count = argc > 1 ? atoi(argv[1]) : 1;
	threads_run(THREADS);
	for (int way = 0; way < 1 << LEVELS; way++) {
		printf("%d", way);
		for (int i = 1; i < frames[way]; i++)
			printf(" %lX", (unsigned long)said[way][i]);
		putchar('\n');
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A program that knows its own blocks, and uses the heap in all ways there are:
 *	old_target SEED THREADS OPERATIONS [WAY]...
 * Whatever it needs for itself isn't on the heap.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "old_target.h"

static struct target_table *table;
static unsigned int operations, thread_count;
static bool sbrk_used, brk_blocked, damaged, busy, waiting, ending, aligned;
static pthread_barrier_t all_there;

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static size_t some_size(uint64_t *state)
{
	uint32_t kind = next_random(state) % 100;

	if (kind < 55)
		return next_random(state) % 200;
	if (kind < 80)
		return next_random(state) % 1200;
	if (kind < 97)
		return next_random(state) % 20000;
	return 100000 + next_random(state) % 400000;
}

static void *some_block(uint64_t *state, size_t size)
{
	void *block;

	switch (next_random(state) % 16) {
	case 0:
		return calloc(1, size);
	case 1:
		if (posix_memalign(&block, 16u << next_random(state) % 10,
				   size))
			return NULL;
		return block;
	default:
		return malloc(size);
	}
}

static void note(void *address)
{
	uint32_t n = __atomic_fetch_add(&table->count, 1, __ATOMIC_RELAXED);

	table->blocks[n] = (struct target_block){
		.address = (uintptr_t)address,
		.size = malloc_usable_size(address),
	};
}

/* Too large for any heap: mappings of their own. */
static void note_aligned(void)
{
	for (unsigned int shift = 4; shift < 22; shift++) {
		void *block;

		if (!posix_memalign(&block, 1u << shift, 33u << 20))
			note(block);
	}
}

struct owned {
	void **items;
	unsigned int count;
};

/* The block is gone; its address may belong to another one, later. */
static void drop(struct owned *owned, unsigned int i)
{
	owned->items[i] = owned->items[--owned->count];
}

static void step(struct owned *owned, uint64_t *state)
{
	size_t size = some_size(state);
	unsigned int i;
	void *block;

	if (!owned->count || next_random(state) % 100 < 52) {
		block = some_block(state, size);
		if (block)
			owned->items[owned->count++] = block;
		return;
	}
	i = next_random(state) % owned->count;
	if (next_random(state) % 8 == 0) {
		block = realloc(owned->items[i], size + 1);
		if (block)
			owned->items[i] = block;
		return;
	}
	free(owned->items[i]);
	drop(owned, i);
}

static void work(struct owned *owned, uint64_t seed)
{
	uint64_t state = seed * 7919 + 1;

	owned->items = mmap(NULL, operations * sizeof(void *),
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned int i = 0; i < operations; i++) {
		if (sbrk_used && i % 500 == 250)
			memset(sbrk(4096 + 24), i, 4096 + 24);
		step(owned, &state);
	}
	/* same sizes: full caches, then fastbins */
	for (unsigned int i = 0; i < 40; i++)
		owned->items[owned->count++] = malloc(40);
	for (unsigned int i = 0; i < 30; i++)
		free(owned->items[--owned->count]);
	for (unsigned int i = 0; i < owned->count; i++)
		note(owned->items[i]);
}

static void churn(uint64_t seed)
{
	void *blocks[64] = { NULL };
	uint64_t state = seed;

	for (;;) {
		unsigned int i = next_random(&state) % 64;

		free(blocks[i]);
		blocks[i] = malloc(some_size(&state));
		__atomic_fetch_add(&table->turns, 1, __ATOMIC_RELAXED);
	}
}

/* epoll_wait(2) says EINTR when its process was stopped. */
static void wait_in_epoll(void)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	for (;;) {
		if (epoll_wait(fd, &event, 1, 200) < 0)
			__atomic_fetch_add(&table->failures, 1,
					   __ATOMIC_RELAXED);
		__atomic_fetch_add(&table->turns, 1, __ATOMIC_RELAXED);
	}
}

static void *thread_run(void *context)
{
	struct owned owned = { 0 };

	work(&owned, (uintptr_t)context);
	pthread_barrier_wait(&all_there);
	if (ending)
		return NULL;
	if (busy)
		churn((uintptr_t)context);
	else if (waiting)
		wait_in_epoll();
	else
		pause();
	return NULL;
}

/* sbrk(2) has nothing to give any more. */
static void block_brk(void)
{
	uintptr_t end = ((uintptr_t)sbrk(0) + 4095) & -(uintptr_t)4096;

	mmap((void *)(end + 65536), 4096, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static void be_ready(void)
{
	table->pid = getpid();
	__atomic_store_n(&table->ready, 1, __ATOMIC_RELEASE);
	if (waiting)
		wait_in_epoll();
	pause();
}

static void take_ways(char **argv, bool *forks)
{
	for (; *argv; argv++) {
		sbrk_used |= !strcmp(*argv, "sbrk");
		brk_blocked |= !strcmp(*argv, "blocked");
		damaged |= !strcmp(*argv, "damaged");
		busy |= !strcmp(*argv, "busy");
		waiting |= !strcmp(*argv, "waiting");
		ending |= !strcmp(*argv, "ending");
		aligned |= !strcmp(*argv, "aligned");
		*forks |= !strcmp(*argv, "fork");
	}
}

int main(int argc, char **argv)
{
	struct owned owned = { 0 };
	pthread_t threads[64];
	bool forks = false;
	pid_t child;

	thread_count = atoi(argv[2]);
	operations = atoi(argv[3]);
	take_ways(argv + 4, &forks);
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED,
		     TARGET_FD, 0);
	if (table == MAP_FAILED)
		return 1;
	if (brk_blocked)
		block_brk();
	pthread_barrier_init(&all_there, NULL, thread_count + 1);
	for (uintptr_t i = 0; i < thread_count; i++)
		pthread_create(&threads[i], NULL, thread_run,
			       (void *)(i + atoi(argv[1]) + 1));
	if (operations)
		work(&owned, atoi(argv[1]));
	if (aligned)
		note_aligned();
	if (damaged)
		((size_t *)owned.items[owned.count / 2])[-1] = ~(size_t)0;
	pthread_barrier_wait(&all_there);
	for (uintptr_t i = 0; ending && i < thread_count; i++)
		pthread_join(threads[i], NULL);
	child = forks ? fork() : 0;
	if (child)
		waitpid(child, NULL, 0);
	else
		be_ready();
	return 0;
}

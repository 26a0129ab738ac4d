// SPDX-License-Identifier: GPL-2.0
/* Threads that allocate, resize and free at the same time, and end with blocks in
 * the allocator's caches; nothing is wrong with that.
 *
 *	threads_target [resize]		mostly resize */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS	8
#define BLOCKS	32
#define STEPS	2000

static bool resize;

static void block_change(void **block, uint32_t random)
{
	if (!*block) {
		*block = malloc((random >> 16) % 3000 + 1);
	} else if (random % 3 && !resize) {
		free(*block);
		*block = NULL;
	} else {
		*block = realloc(*block, (random >> 14) %
				 (resize ? 3000 : 300000) + 1);
	}
}

static void *thread_run(void *seed)
{
	uint32_t random = (uintptr_t)seed;
	void *blocks[BLOCKS] = { NULL };

	for (int i = 0; i < STEPS; i++) {
		random = random * 1103515245 + 12345;
		block_change(&blocks[(random >> 8) % BLOCKS], random >> 3);
	}
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	resize = argc > 1;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread_run,
				   (void *)(i + 1)))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

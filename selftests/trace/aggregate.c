// SPDX-License-Identifier: GPL-2.0
/*
 * Calls take() 25,000 times in each of 4 threads, with values that their tables
 * follow from: live_aggregate.sh. The kinds' names are in pages that are absent at
 * first, when it runs with "absent".
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define THREADS	4
#define CALLS	25000
#define KINDS	3

static char *names[KINDS] = {
	"read", "write", "a name that is longer than others",
};

__attribute__((noinline)) void take(const char *name, long value, int kind)
{
	__asm__ volatile("" : : "r"(name), "r"(value), "r"(kind) : "memory");
}

static void *call(void *context)
{
	long thread = (long)context;

	for (long i = 0; i < CALLS; i++)
		take(names[i % KINDS], i - 100 * thread, i % KINDS - 1);
	return NULL;
}

static void names_leave(void)
{
	for (int i = 0; i < KINDS; i++) {
		char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED)
			exit(1);
		names[i] = page;
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	(void)argv;
	if (argc > 1)
		names_leave();
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, call, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

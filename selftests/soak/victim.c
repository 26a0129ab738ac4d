// SPDX-License-Identifier: GPL-2.0
/*
 * What is traced while other things happen, and makes them happen:
 *
 *	victim calls N [THREADS]	each function N times, by each thread
 *	victim bursts		the same in bursts, until it is ended
 *	victim forks N		N processes, each forked by the one before; each
 *				calls
 *	victim bomb DEPTH	2^DEPTH processes at a time, all of which call
 *	victim hog MIB		so much memory, as far as there is some
 *
 * What the functions are given can be checked to be whole: each byte is one more
 * than that in front of it.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BURST	50
#define LARGE	900

struct block {
	uint8_t bytes[LARGE];
};

int work(unsigned int n, const struct block *block, const char *text);
int small(unsigned int n);
int large(unsigned int n, const struct block *block);

__attribute__((noinline))
int work(unsigned int n, const struct block *block, const char *text)
{
	__asm__ volatile("" ::: "memory");
	return block->bytes[n % LARGE] + text[0];
}

__attribute__((noinline)) int small(unsigned int n)
{
	__asm__ volatile("" ::: "memory");
	return n * 3;
}

__attribute__((noinline)) int large(unsigned int n, const struct block *block)
{
	__asm__ volatile("" ::: "memory");
	return block->bytes[LARGE - 1] + n;
}

static int calls(unsigned int count)
{
	static const char *const texts[] = { "", "a text", "a longer one" };
	struct block block;
	int sum = 0;

	for (unsigned int n = 0; n < count; n++) {
		for (unsigned int i = 0; i < LARGE; i++)
			block.bytes[i] = n + i;
		sum += work(n, &block, texts[n % 3]);
		sum += small(n);
		sum += large(n, &block);
	}
	return sum;
}

static void *thread_calls(void *count)
{
	return (void *)(intptr_t)calls((intptr_t)count);
}

static int threads(intptr_t count, unsigned int wanted)
{
	pthread_t thread[16];
	unsigned int i;

	for (i = 0; i < wanted && i < 16; i++)
		if (pthread_create(&thread[i], NULL, thread_calls,
				   (void *)count))
			return 1;
	while (i)
		pthread_join(thread[--i], NULL);
	return 0;
}

static int bursts(void)
{
	for (;;) {
		calls(BURST);
		usleep(20000);
	}
	return 0;
}

/* A chain: each ends when the next one has ended. */
static int forks(unsigned int left)
{
	pid_t child;

	calls(2);
	if (!left)
		return 0;
	child = fork();
	if (!child)
		exit(forks(left - 1));
	if (child > 0)
		waitpid(child, NULL, 0);
	return 0;
}

static int bomb(unsigned int depth)
{
	for (; depth; depth--)
		if (fork() < 0)
			break;
	calls(5);
	while (wait(NULL) > 0)
		;
	return 0;
}

static int hog(size_t mib)
{
	FILE *file = fopen("/proc/self/oom_score_adj", "w");

	if (!file || fputs("1000", file) < 0 || fclose(file))
		return 1;
	while (mib--) {
		void *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return 1;
		memset(p, 1, 1 << 20);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned int n = argc > 2 ? atoi(argv[2]) : 1;

	if (!strcmp(what, "calls"))
		return threads(n, argc > 3 ? atoi(argv[3]) : 1);
	if (!strcmp(what, "bursts"))
		return bursts();
	if (!strcmp(what, "forks"))
		return forks(n);
	if (!strcmp(what, "bomb"))
		return bomb(n);
	if (!strcmp(what, "hog"))
		return hog(n);
	return 2;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Calls the allocator and says how often: "ALLOCATIONS RESIZES RELEASES".
 *
 *	heap_calls ROUNDS
 *	heap_calls fork ROUNDS		in a child
 *	heap_calls exec PROGRAM...	in a child that becomes PROGRAM
 *	heap_calls vfork ROUNDS		in children that work in its memory: they
 *					allocate what it frees, and free what it
 *					has allocated
 *	heap_calls brief CHILDREN	in children that end at once
 *	heap_calls load LIBRARY ROUNDS	the allocator is that library's
 *	heap_calls serve		until it is killed, "ready" at first
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS	500

static unsigned long allocations, resizes, releases;
static void *volatile blocks[BLOCKS];

static void *(*allocate)(size_t size) = malloc;
static void (*release)(void *block) = free;

static void say(void)
{
	char text[96];
	int n = snprintf(text, sizeof(text), "%lu %lu %lu\n", allocations,
			 resizes, releases);

	if (write(STDOUT_FILENO, text, n) != n)
		_exit(1);
}

static void round_run(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = i % 5 ? allocate(i + 1) : calloc(i + 1, 3);
		allocations++;
	}
	for (int i = 0; i < BLOCKS; i += 5) {
		blocks[i] = realloc(blocks[i], 9000 + i);
		resizes++;
	}
	for (int i = 0; i < BLOCKS; i++) {
		if (i % 5)
			release(blocks[i]);
		else
			free(blocks[i]);
		releases++;
	}
	free(NULL);
	/* fails, and is nothing */
	blocks[0] = malloc((size_t)-1 / 2 + 1);
}

static void rounds_run(const char *rounds)
{
	for (int i = atoi(rounds); i; i--)
		round_run();
	say();
}

static int in_child(char **argv)
{
	pid_t child = fork();
	int status;

	if (!child) {
		if (!strcmp(argv[1], "fork")) {
			rounds_run(argv[2]);
			_exit(0);
		}
		execv(argv[2], argv + 2);
		_exit(127);
	}
	return waitpid(child, &status, 0) == child && !status ? 0 : 1;
}

static void *volatile early;

static void child_work(void)
{
	free(early);
	releases++;
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(i + 1);
		allocations++;
	}
}

static int in_memory(const char *rounds)
{
	for (volatile int round = 0; round < atoi(rounds); round++) {
		pid_t child;

		early = malloc(5000);
		allocations++;
		child = vfork();
		if (!child) {
			child_work();
			if (round % 2)
				_exit(0);
			execl("/proc/self/exe", "heap_calls", "0", NULL);
			_exit(127);
		}
		if (waitpid(child, NULL, 0) != child)
			return 1;
		for (int i = 0; i < BLOCKS; i++) {
			free(blocks[i]);
			releases++;
		}
	}
	say();
	return 0;
}

static int in_brief(const char *children)
{
	for (int i = 0; i < atoi(children); i++) {
		pid_t child = fork();

		if (!child) {
			blocks[0] = malloc(1);
			_exit(0);
		}
		if (waitpid(child, NULL, 0) != child)
			return 1;
	}
	return 0;
}

static int serve(void)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(64);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	for (;;) {
		free(blocks[7]);
		blocks[7] = malloc(4096);
		usleep(1000);
	}
}

/* Until there is a probe at the function: its code changes. At most a minute. */
static void wait_probed(const void *function)
{
	const volatile unsigned char *code = function;
	unsigned char first = *code;

	for (int i = 0; i < 6000 && *code == first && first != 0xcc; i++)
		usleep(10000);
}

static int load(char **argv)
{
	void *library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return 77;
	allocate = (void *(*)(size_t))dlsym(library, "malloc");
	release = (void (*)(void *))dlsym(library, "free");
	wait_probed((const void *)allocate);
	wait_probed((const void *)release);
	sleep(2);		/* for the probes where they return */
	rounds_run(argv[3]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "serve"))
		return serve();
	if (argc == 4 && !strcmp(argv[1], "load"))
		return load(argv);
	if (argc == 3 && !strcmp(argv[1], "vfork"))
		return in_memory(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "brief"))
		return in_brief(argv[2]);
	if (argc > 2)
		return in_child(argv);
	rounds_run(argv[1]);
	return 0;
}

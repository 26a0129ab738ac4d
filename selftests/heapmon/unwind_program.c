// SPDX-License-Identifier: GPL-2.0
/*
 * Allocates blocks of sizes that nothing else asks for, from stacks of all
 * kinds, and prints each size and what backtrace(3) finds in the same function:
 * C and C++, of 64 and 32 bits, by several compilers with several options.
 */
#include <alloca.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE	__attribute__((noinline))
#define BARRIER()	__asm__ volatile("" ::: "memory")
#define DEPTH		40
#define FIRST_SIZE	777001

static int size = FIRST_SIZE;
static char said[1 << 16];
static size_t used;

static void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	used += vsnprintf(said + used, sizeof(said) - used, format, ap);
	va_end(ap);
}

/* The innermost address differs: of the call of each. */
static NOINLINE void look(const char *what)
{
	void *addresses[DEPTH], *block;
	int count = backtrace(addresses, DEPTH);

	block = malloc(size);
	__asm__ volatile("" : : "r"(block) : "memory");
	say("%d %s", size++, what);
	for (int i = 1; i < count; i++)
		say(" %lx", (unsigned long)addresses[i]);
	say("\n");
	free(block);
	BARRIER();
}

static NOINLINE int recurse(int depth)
{
	volatile char room[24 * depth + 1];

	room[0] = 1;
	if (depth)
		recurse(depth - 1);
	else
		look("recursion");
	BARRIER();
	return room[0];
}

static NOINLINE void realigned(int bytes)
{
	volatile char aligned[64] __attribute__((aligned(128)));
	volatile char *room = (char *)alloca(bytes);

	aligned[0] = room[0] = 1;
	look("realigned");
	BARRIER();
	room[0] = aligned[0];
}

static NOINLINE void many_arguments(int a, int b, int c, int d, int e, int f,
				    int g, int h)
{
	look("arguments");
	BARRIER();
	size += (a + b + c + d + e + f + g + h) / 1000;
}

static int compare(const void *a, const void *b)
{
	static int done;

	if (!done++)
		look("qsort");
	BARRIER();
	return *(const int *)a - *(const int *)b;
}

static void handler(int number)
{
	look(number == SIGUSR1 ? "signal" : "signal-other-stack");
	BARRIER();
}

static void informed(int number, siginfo_t *info, void *context)
{
	look("signal-informed");
	BARRIER();
}

static NOINLINE void signals(void)
{
	struct sigaction action;
	stack_t other;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	memset(&other, 0, sizeof(other));
	other.ss_sp = malloc(1 << 16);
	other.ss_size = 1 << 16;
	sigaltstack(&other, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	action.sa_flags = SA_SIGINFO;
	action.sa_sigaction = informed;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	BARRIER();
}

static NOINLINE __attribute__((noreturn)) void last(void)
{
	look("noreturn");
	pthread_exit(NULL);
}

static void *thread(void *arg)
{
	last();
	return arg;
}

static NOINLINE void tail(const char *what)
{
	BARRIER();
	look(what);
}

static void at_exit(void)
{
	look("atexit");
	if (write(1, said, used) < 0)
		_exit(1);
}

static __attribute__((constructor)) void construct(void)
{
	void *address;

	backtrace(&address, 1);		/* which loads what it needs */
	look("constructor");
	BARRIER();
}

#ifdef __cplusplus
struct guard {
	~guard()
	{
		look("destructor");
		BARRIER();
	}
};

static NOINLINE void throws(int number)
{
	guard g;

	if (number)
		throw number;
	BARRIER();
}

static NOINLINE void exceptions(void)
{
	try {
		throws(size);
	} catch (int) {
		look("caught");
	}
	look("after-catch");
	BARRIER();
}
#else
static void exceptions(void)
{
}
#endif

int main(void)
{
	int numbers[] = { 4, 2, 3, 1 };
	pthread_t id;

	atexit(at_exit);
	look("main");
	recurse(4);
	realigned(99);
	many_arguments(1, 2, 3, 4, 5, 6, 7, 8);
	qsort(numbers, 4, sizeof(int), compare);
	signals();
	exceptions();
	tail("tail-call");
	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, NULL);
	BARRIER();
	return 0;
}

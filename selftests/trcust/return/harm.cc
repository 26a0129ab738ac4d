// SPDX-License-Identifier: GPL-2.0
/*
 * What a return probe in the wrong function is the end of, each a program by a
 * definition: exceptions (THROW), the end of a thread (LEAVE), stacks that are
 * changed (SWITCH), signals handled on a stack of their own (SIGNAL), a function
 * that looks at where it returns to (CALLER).
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __clang__
#define SHAPE extern "C" __attribute__((noinline))
#else
#define SHAPE extern "C" __attribute__((noipa))
#endif

static volatile int total, signals;
static ucontext_t outside, inside;
static char own_stack[65536];

SHAPE int harm_leaf(int n)
{
	if (n > 3)
		total += n;
	return n + 1;
}

SHAPE int harm_known(int n)
{
	return harm_leaf(n) + harm_leaf(n + 2);
}

#ifdef THROW
SHAPE int harm_thrower(int n)
{
	if (harm_leaf(n) > 2)
		throw n;
	return n;
}

SHAPE int harm_outer(int n)
{
	return harm_thrower(n) + 1;
}

int main()
{
	for (int i = 0; i < 4; i++) {
		try {
			printf("%d\n", harm_outer(i) + harm_known(i));
		} catch (int n) {
			printf("caught %d\n", n);
		}
	}
}
#endif

#ifdef LEAVE
struct counted {
	~counted() { total++; }
};

SHAPE void harm_leaver(int n)
{
	if (harm_leaf(n))
		pthread_exit(NULL);
}

SHAPE int harm_between(int n)
{
	counted one;

	harm_leaver(n);
	return n;
}

static void *thread(void *)
{
	return (void *)(long)harm_between(1);
}

int main()
{
	pthread_t id;

	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, NULL);
	printf("total %d\n", total);
}
#endif

#ifdef SWITCH
SHAPE int harm_yield(int n)
{
	swapcontext(&inside, &outside);
	return n + 1;
}

SHAPE void harm_routine(void)
{
	for (int i = 0; i < 3; i++)
		total += harm_yield(i);
}

SHAPE int harm_resume(int n)
{
	swapcontext(&outside, &inside);
	return n + total;
}

int main()
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = own_stack;
	inside.uc_stack.ss_size = sizeof(own_stack);
	inside.uc_link = &outside;
	makecontext(&inside, harm_routine, 0);
	for (int i = 0; i < 4; i++)
		printf("%d\n", harm_resume(i));
}
#endif

#ifdef SIGNAL
SHAPE int harm_slow(volatile int *number)
{
	int all = 0;

	while (!signals)
		all += *number;
	return all ? 1 : 2;
}

static void handle(int)
{
	signals += harm_leaf(4);
}

/* The other stack is above the frame. */
SHAPE int harm_interrupted(int n)
{
	struct sigaction action = {};
	volatile int one = n;

	action.sa_handler = handle;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGALRM, &action, NULL);
	ualarm(20000, 0);
	return harm_slow(&one);
}

int main()
{
	stack_t stack = {};

	stack.ss_size = 65536;
	stack.ss_sp = alloca(stack.ss_size);
	sigaltstack(&stack, NULL);
	printf("%d %d\n", harm_interrupted(0), signals);
}
#endif

#ifdef CALLER
SHAPE void *harm_caller(int n)
{
	return n > 2 ? __builtin_return_address(0) : NULL;
}

int main()
{
	char *address = (char *)harm_caller(3), *here = (char *)main;

	puts(address > here && address < here + 4096 ? "here" : "elsewhere");
}
#endif


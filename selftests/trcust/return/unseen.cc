// SPDX-License-Identifier: GPL-2.0
/*
 * What a return probe would be the end of, where the module that has it shows
 * nothing of this: signals on another stack (ALTSTACK), exceptions that handlers
 * of signals throw (FAULT), threads that are cancelled anywhere (CANCEL), a
 * handler that walks the stack (WALK), a function that looks for its caller's
 * caller (PARENT), exceptions (TOSS) and stacks (SWITCH) of a library.
 */
#include "unseen.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static long numbers[4096];

#ifdef ALTSTACK
static volatile int signals;

static void handle(int)
{
	static const long few[64] = {};

	unseen_leaf(few, 64);
	signals++;
}

int main()
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = {};
	struct sigaction action = {};
	char other[65536];	/* above what main() calls */
	stack_t stack = {};
	long all = 0;

	stack.ss_sp = other;
	stack.ss_size = sizeof(other);
	sigaltstack(&stack, NULL);
	action.sa_handler = handle;
	action.sa_flags = SA_ONSTACK | SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (signals < 20)
		all ^= unseen_leaf(numbers, 4096);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("signals %s\n", signals >= 20 ? "many" : "few");
	return all == 1;
}
#endif

#ifdef FAULT
struct object {
	~object()
	{
		puts("destroyed");
	}
};

static void handle(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	throw number;
}

int main()
{
	struct sigaction action = {};
	int out[4] = {};

	action.sa_handler = handle;
	sigaction(SIGFPE, &action, NULL);
	for (int i = -2; i < 3; i++) {
		object one;

		try {
			printf("%d\n", unseen_divide(i * 1000, i, out));
		} catch (int number) {
			printf("caught %d\n", number);
		}
	}
}
#endif

#ifdef CANCEL
struct object {
	~object()
	{
		puts("destroyed");
	}
};

static void *thread(void *)
{
	object one;
	long all = 0;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		all ^= unseen_leaf(numbers, 4096);
	return (void *)all;
}

int main()
{
	void *result;
	pthread_t id;

	pthread_create(&id, NULL, thread, NULL);
	usleep(100000);
	pthread_cancel(id);
	pthread_join(id, &result);
	printf("cancelled %d\n", result == PTHREAD_CANCELED);
}
#endif

#ifdef WALK
static void handle(int)
{
	void *frames[32];

	printf("frames: %s\n", backtrace(frames, 32) >= 5 ? "all" : "few");
	fflush(stdout);
	_exit(3);
}

int main()
{
	void *frames[4];
	int out[4] = {};

	backtrace(frames, 4);
	signal(SIGFPE, handle);
	return unseen_divide(1, 0, out);
}
#endif

#ifdef PARENT
static void *seen;

SHAPE int unseen_note(int n)
{
	seen = __builtin_return_address(1);
	return n * 3;
}

SHAPE int unseen_work(const int *list, int count)
{
	int all = 0;

	for (int i = 0; i < count; i++)
		all += unseen_note(list[i]) ^ all;
	return all;
}

SHAPE int unseen_caller(int n)
{
	int list[4] = { 1, 2, 3, n };
	int all = unseen_work(list, 4);
	long distance = (char *)seen - (char *)unseen_caller;

	printf("%d called by %s\n", all,
	       distance > 0 && distance < 300 ? "unseen_caller()" : "another");
	return all;
}

int main()
{
	return unseen_caller(5) + unseen_caller(6) == 0;
}
#endif

#ifdef TOSS
SHAPE int unseen_work(int n)
{
	library_toss(n);
	return n * 3 + 1;
}

SHAPE int unseen_outer(int n)
{
	return unseen_work(n) + 7;
}

int main()
{
	for (int i = 0; i < 6; i++)
		printf("%d\n", library_guard(unseen_outer, i));
}
#endif

#ifdef SWITCH
static int total;

SHAPE int unseen_step(int n)
{
	total += n;
	library_yield();
	return total * 2;
}

SHAPE void unseen_body(void)
{
	for (int i = 0;; i++)
		total += unseen_step(i);
}

SHAPE int unseen_drive(int n)
{
	library_resume();
	return total + n;
}

int main()
{
	int all = 0;

	library_begin(unseen_body);
	for (int i = 0; i < 20; i++)
		all = all * 3 + unseen_drive(i);
	printf("%d\n", all);
}
#endif

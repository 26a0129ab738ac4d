// SPDX-License-Identifier: GPL-2.0
/*
 * call THREADS: calls to be traced, in each of so many threads: fib(5), which
 * is 15 calls and returns 5, and leap(3), 4 calls that longjmp() leaves.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define KEEP	__attribute__((noinline, noclone, used))

static __thread jmp_buf back;
static volatile int one = 1;
static char failed;

int KEEP fib(int n)
{
	volatile int sum;	/* no compiler makes a loop of it */

	if (n < 2)
		return n;
	sum = fib(n - 1);
	sum += fib(n - 2);
	return sum;
}

int KEEP leap(int n)
{
	if (!n && one)
		longjmp(back, 1);
	return n ? leap(n - 1) + one : 0;
}

int KEEP work(int n)
{
	int sum = fib(n);

	if (!setjmp(back))
		sum += leap(3);
	return sum;
}

static void *thread_run(void *context)
{
	return work(5) == 5 ? NULL : context;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1, wrong = 0;
	pthread_t *threads = calloc(count + 1, sizeof(*threads));
	void *result;

	for (int i = 0; threads && i < count; i++)
		if (pthread_create(&threads[i], NULL, thread_run, &failed))
			return 1;
	for (int i = 0; threads && i < count; i++) {
		pthread_join(threads[i], &result);
		wrong |= !!result;
	}
	free(threads);
	return wrong;
}

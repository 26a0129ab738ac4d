// SPDX-License-Identifier: GPL-2.0
/*
 * Functions with return values that are made in many ways, called by two
 * threads, by themselves, and by a process that was forked.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define SHAPE __attribute__((noinline))
#else
#define SHAPE __attribute__((noipa))
#endif

struct pair {
	int first, second;
};

static jmp_buf back;
static volatile int total;
static struct pair pairs[8];

SHAPE int sign(int n)
{
	if (n > 0)
		return 1;
	return n < 0 ? -1 : 0;
}

SHAPE int clamp(int n)
{
	if (n > 90)
		return 90;
	if (n < 10)
		return 10;
	return n;
}

SHAPE struct pair *find(int n)
{
	for (int i = 0; i < 8; i++)
		if (pairs[i].first == n)
			return &pairs[i];
	return NULL;
}

SHAPE int sum(const char *text)
{
	int all = total++ & 1;

	while (*text)
		all += *text++;
	return all;
}

SHAPE int both(int n)
{
	return sign(n) + clamp(n);
}

SHAPE int length(const char *text)
{
	return strlen(text) + sign(total);
}

SHAPE int apply(int (*function)(int), int n)
{
	return function(n) * 2;
}

SHAPE int deep(int n)
{
	return n ? deep(n - 1) + 1 : 0;
}

SHAPE int odd(int n);
SHAPE int even(int n)
{
	return n ? !odd(n - 1) : 1;
}
SHAPE int odd(int n)
{
	return n ? !even(n - 1) : 0;
}

SHAPE int kind(int n)
{
	switch (n & 7) {
	case 0: return 12;
	case 1: return total;
	case 2: return n * n;
	case 3: return n ^ 85;
	case 4: return -n;
	case 5: return n << 3;
	}
	return 0;
}

SHAPE int leap(int n)
{
	if (n == 3)
		longjmp(back, 1);
	return apply(sign, n) + 4;
}

/* Two processes return from it. */
SHAPE int split(int n)
{
	pid_t child = fork();

	if (!child)
		return n + 5;
	waitpid(child, NULL, 0);
	return n;
}

SHAPE int local(int n)
{
	volatile int numbers[6];
	int all = 0;

	for (int i = 0; i < 6; i++)
		numbers[i] = n * i;
	for (int i = 0; i < 6; i++)
		all += numbers[i];
	return all;
}

static void *run(void *text)
{
	int all = 0;

	for (int i = -20; i < 120; i += 7)
		all += sign(i) + clamp(i) + both(i) + apply(clamp, i) +
		       kind(i) + local(i) + deep(i & 15) + even(i & 15) +
		       !!find(i) + sum(text) + length(text);
	return (void *)(long)all;
}

int main(void)
{
	pthread_t thread;
	volatile int all = 0;
	void *result;

	for (int i = 0; i < 8; i++)
		pairs[i].first = 7 * i + 1;
	pthread_create(&thread, NULL, run, "thread");
	pthread_join(thread, &result);
	all += (long)result + (long)run("main");
	all += deep(200);
	for (int i = 0; i < 6; i++)
		if (!setjmp(back))
			all += leap(i);
	if (split(3) == 8)
		_exit(kind(3) & 63);
	printf("%d\n", all);
	return 0;
}

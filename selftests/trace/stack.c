// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that call each other and report where they return to: prints the
 * addresses that a stack trace from inner() has, innermost first, then those
 * from aligned(), which realigns its stack.
 */
#include <stdio.h>

#define NOINLINE	__attribute__((noinline, noclone, noipa))
#define NOTE()		(chain[depth++] = __builtin_return_address(0))

static void *chain[16];
static int depth;

static void print(void)
{
	while (depth)
		printf("0x%lX ", (unsigned long)chain[--depth]);
	printf("\n");
}

NOINLINE int inner(int a)
{
	volatile int b = a;

	NOTE();
	b++;
	return b;
}

NOINLINE int aligned(int a)
{
	volatile char buffer[64] __attribute__((aligned(64)));

	NOTE();
	buffer[a & 63] = a;
	return buffer[a & 63];
}

NOINLINE int three(int a, int (*last)(int))
{
	volatile char large[9000];

	NOTE();
	large[a & 63] = a;
	return last(a) + large[a & 63];
}

NOINLINE int two(int a, int (*last)(int))
{
	NOTE();
	return three(a + 1, last) + 1;
}

NOINLINE int one(int a, int (*last)(int))
{
	NOTE();
	return two(a + 1, last) + 1;
}

int main(void)
{
	int sum = one(1, inner);

	print();
	sum += one(1, aligned);
	print();
	return sum == 0;
}

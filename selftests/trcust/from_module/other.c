// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

static __attribute__((noinline)) int helper(int n)	/* main.c has one, too */
{
	printf("other helper %d\n", n);
	return n * 2;
}

int other(int n)
{
	return helper(n) + 1;
}

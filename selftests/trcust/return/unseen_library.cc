// SPDX-License-Identifier: GPL-2.0
/*
 * A library: functions that call nothing, which know nothing of who calls them;
 * others that throw, catch and change stacks for a program that does nothing of
 * this by itself.
 */
#include "unseen.h"

#include <ucontext.h>

static ucontext_t outside, inside;
static char own_stack[65536];

long unseen_leaf(const long *numbers, int count)
{
	long a = 1, b = 2, c = 3, d = 4;

	for (int round = 0; round < 40; round++)
		for (int i = 0; i + 4 <= count; i += 4) {
			a += numbers[i] * d;
			b ^= numbers[i + 1] + a;
			c += numbers[i + 2] ^ b;
			d -= numbers[i + 3] * c;
		}
	return a ^ b ^ c ^ d;
}

int unseen_divide(int a, int b, int *out)
{
	int all = 0;

	for (int i = 0; i < 8; i++) {
		int one = (a + i) / b;

		out[i & 3] += one;
		all ^= one;
	}
	return all;
}

int library_guard(int (*call)(int), int n)
{
	try {
		return call(n);
	} catch (int thrown) {
		return -thrown;
	}
}

void library_toss(int n)
{
	if (n & 1)
		throw n;
}

void library_begin(void (*body)(void))
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = own_stack;
	inside.uc_stack.ss_size = sizeof(own_stack);
	inside.uc_link = &outside;
	makecontext(&inside, body, 0);
}

void library_resume(void)
{
	swapcontext(&outside, &inside);
}

void library_yield(void)
{
	swapcontext(&inside, &outside);
}

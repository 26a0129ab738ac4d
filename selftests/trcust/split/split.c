// SPDX-License-Identifier: GPL-2.0
/* Functions that compilers split, clone, inline into themselves. Prints the
 * calls of each. */
#include <stdio.h>
#include <stdlib.h>

static int calls[7];
#define CALLED(k) __asm__ volatile("" : "+m"(calls[k])); calls[k]++

__attribute__((noinline)) int ext(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

__attribute__((noinline)) static int cloned(int *a, int n, int mode, int k)
{
	int s = 0;

	CALLED(0);
	for (int i = 0; i < n; i++) {
		if (mode == 3)
			s += a[i] * k;
		else if (mode == 4)
			s ^= a[i] + ext(k);
		else
			s -= a[i];
		s = ext(s);
	}
	return s;
}

static int parted(int *p, int n)
{
	int s = 0;

	CALLED(1);
	if (!p)
		return -1;
	for (int i = 0; i < n; i++) {
		s += ext(p[i]);
		if (s > 1000)
			s = ext(s) * 3;
		else
			s ^= ext(i);
		if (s < -1000)
			abort();
		s = ext(s) + ext(s + 1) + ext(s + 2);
	}
	return s;
}

struct data {
	int a, b, c;
};

__attribute__((noinline)) static int reduced(struct data *p, int unused)
{
	CALLED(2);
	return ext(p->b) * 2;
}

static int recursive(int n, int m)
{
	CALLED(3);
	if (n <= 0)
		return m;
	return recursive(n - 1, m) + recursive(n - 2, m) * 2 + ext(m);
}

int both(int x, int y)
{
	CALLED(4);
	return ext(x) * y;
}
int (*volatile pointer)(int, int) = both;

__attribute__((noinline)) int cold(int x)
{
	CALLED(5);
	if (__builtin_expect(x < 0, 0)) {
		fprintf(stderr, "negative\n");
		x = ext(-x);
	}
	return x * 2;
}

/* Other files call it; here it has a clone. */
__attribute__((noinline)) int shared(int *a, int n, int mode)
{
	int s = 0;

	CALLED(6);
	for (int i = 0; i < n; i++)
		s = ext(mode == 3 ? s + a[i] : mode == 4 ? s ^ a[i] : s - 1);
	return s;
}

int main(int argc, char **argv)
{
	int a[16], s = 0;

	for (int i = 0; i < 16; i++)
		a[i] = i * argc;
	for (int i = 0; i < 5; i++) {
		struct data d = { i, s, 3 };

		s += cloned(a, 16, 3, 2);
		s += cloned(a, i, 4, 9);
		s += cloned(a, 4, argc + i, i);
		s += parted(i & 1 ? a : 0, 8);
		s += parted(a, i);
		s += reduced(&d, i);
		s += recursive(4, argc);
		s += recursive(i, 3);
		s += both(i, 3);
		s += pointer(s, i);
		s += cold(i - 1);
		s += shared(a, 16, 3);
		s += shared(a, i, 3);
	}
	fprintf(stderr, "%d\n", s);
	for (int k = 0; k < 7; k++)
		printf("%d %d\n", k + 1, calls[k]);
	return 0;
}

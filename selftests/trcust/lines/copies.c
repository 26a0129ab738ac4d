// SPDX-License-Identifier: GPL-2.0
/* Loops and branches whose code compilers copy. Line k has a call work(k, ..),
 * which counts its executions. */
int work(int k, int i);

#define NOINLINE __attribute__((noinline))

NOINLINE int unrolled(int *a)
{
	int s = 0;

	for (int i = 0; i < 4; i++) {
		s += work(0, i);
		a[i] = s;
	}
	return s;
}

NOINLINE int unswitched(int *a, int n, int flag)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		s += work(1, a[i]);
		if (flag)
			s ^= a[i] * 7;
		else
			s += 3;
	}
	return s;
}

NOINLINE int threaded(int *a, int n)
{
	int s = 0, state = 0;

	for (int i = 0; i < n; i++) {
		if (state == 0)
			state = a[i] & 1;
		s += work(2, s);
		if (state == 1)
			s++;
		else if (state == 0)
			s--;
	}
	return s;
}

NOINLINE int split(const char *p)
{
	int s = 0;

	do {
		s += work(3, *p);
	} while (*++p && s < 100000);
	return s;
}

static inline int tail(int x, int y)
{
	if (x > 3)
		y = work(4, y);
	return y;
}

NOINLINE int inlined(int x, int n)
{
	int r = 0;

	for (int i = 0; i < n; i++) {
		r += tail(x, i);
		if (x > 3)
			r ^= 5;
	}
	return r;
}

NOINLINE int rotated(int n)
{
	int s = n;

	while (s < 100000) {
		s = work(5, s) + 2;
		if (s == 4)
			break;
	}
	return s;
}

NOINLINE int state_machine(const char *p)
{
	int state = 0, n = 0;

	for (; *p; p++) {
		switch (state) {
		case 0:
			state = *p == 'a' ? 1 : 0;
			n += work(6, n);
			break;
		case 1:
			state = *p == 'b' ? 2 : 0;
			n += work(7, n) + 1;
			break;
		default:
			state = 0;
			n -= work(8, n);
		}
		if (state == 2)
			n += work(9, state);
	}
	return n;
}

NOINLINE int nested(int n, int m)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++) {
			if (j & 1)
				continue;
			s += work(10, i + j) & 7;
		}
	return s;
}

NOINLINE int early(int *a, int n)
{
	for (int i = 0; i < n; i++) {
		int v = work(11, a[i]);

		if (v > 90)
			return v;
	}
	return work(12, n);
}

NOINLINE int diamond(int x, int y)
{
	int r;

	if (x > y)
		r = work(13, x);
	else
		r = work(14, y);
	if (x > y)
		r += 3;
	r += work(15, r);
	return r;
}

NOINLINE int remainder_loop(int *a, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += a[i] * work(16, i) + (s >> 3);
	return s;
}

NOINLINE int with_goto(int n)
{
	int s = 0;
again:
	s += work(17, n);
	if (n-- > 3)
		goto again;
	if (s & 1)
		goto again_once;
	return s;
again_once:
	s += work(18, s);
	return s;
}

NOINLINE int branches(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		if (i & 2)
			s += work(19, i);
		else
			s += 5;
	return s;
}

static inline int twice(int a)
{
	int b = work(20, a);

	if (b > 10)
		b += work(21, b);
	return b;
}

NOINLINE int several(int n)
{
	int s = twice(n);

	if (s > 5)
		s += twice(s + 1);
	for (int i = 0; i < 3; i++)
		s += twice(i);
	return s;
}

NOINLINE int fused(int *a, int n)
{
	int s = 0;

	for (int i = 0; i < n; i += 2)
		a[i] = work(22, i);
	for (int i = 0; i < n; i += 2)
		if (a[i])
			s += work(23, s & 3);
	return s;
}

void run(void)
{
	int a[64];

	for (int i = 0; i < 64; i++)
		a[i] = i * 7 % 11;
	unrolled(a);
	unswitched(a, 20, 0);
	unswitched(a, 30, 1);
	threaded(a, 40);
	split("hello, halved world");
	inlined(2, 5);
	inlined(5, 9);
	rotated(1);
	rotated(-5);
	state_machine("abcabaabcbabbb");
	nested(5, 7);
	early(a, 3);
	early(a, 60);
	diamond(3, 4);
	diamond(5, 4);
	remainder_loop(a, 13);
	with_goto(9);
	with_goto(2);
	branches(11);
	several(2);
	several(7);
	fused(a, 12);
}

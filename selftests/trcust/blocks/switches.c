// SPDX-License-Identifier: GPL-2.0
/* Computed jumps as compilers write them. */
#include <stdio.h>

#define NOINLINE __attribute__((noinline))
#define CASES(_) _(0) _(1) _(2) _(3) _(4) _(5) _(6) _(7) _(8) _(9)

volatile int sink;

NOINLINE static int dense(unsigned int i)
{
	switch (i) {
#define TAKE(n) case n: sink += n * n + 7; break;
	CASES(TAKE)
	default:
		return -1;
	}
	return sink & i;
}

NOINLINE static long shifted(long i)
{
	switch (i) {
#define TAKE_SHIFTED(n) case 100 + n: sink ^= n + 3; return sink + n;
	CASES(TAKE_SHIFTED)
	default:
		return i;
	}
}

NOINLINE static int by_char(const char *text)
{
	int sum = 0;

	for (; *text; text++) {
		switch (*text) {
#define TAKE_CHAR(n) case 'a' + n: sum += sink / (n + 1); break;
		CASES(TAKE_CHAR)
		case '+':
			sum = -sum;
			break;
		default:
			sum ^= *text;
		}
	}
	return sum;
}

NOINLINE static int two(int i, int j)
{
	int sum = 0;

	switch (i) {
#define TAKE_TWO(n) case n: sum = sink * n; sink++; break;
	CASES(TAKE_TWO)
	}
	switch (j) {
	CASES(TAKE_TWO)
	}
	return sum + printf("%d", i);
}

NOINLINE static int addresses(const unsigned char *program)
{
	static const void *const labels[] = {
		&&stop, &&add, &&subtract, &&twice, &&again,
	};
	int value = 1;

	goto *labels[*program];
add:
	value += sink;
	goto *labels[*++program];
subtract:
	value -= 3;
	goto *labels[*++program];
twice:
	value *= 2;
	if (value & 1)
		sink++;
	goto *labels[*++program];
again:
	sink += value;
	goto *labels[*++program];
stop:
	return value;
}

NOINLINE static int distances(const unsigned char *program)
{
	static const int labels[] = {
		&&stop - &&stop, &&add - &&stop, &&negate - &&stop,
	};
	int value = 1;

	for (;;) {
		goto *(&&stop + labels[*program++]);
add:
		value += sink;
		continue;
negate:
		value = -value;
	}
stop:
	return value;
}

/* Labels that are known by what stores them. */
NOINLINE static int stored(void **code, int value)
{
	if (!*code) {
		code[0] = &&add;
		code[1] = &&negate;
		code[2] = &&add;
		code[3] = &&stop;
		return value;
	}
	goto **code++;
add:
	value += sink;
	goto **code++;
negate:
	value = -value;
	goto **code++;
stop:
	return value;
}

int main(void)
{
	static const unsigned char program[] = { 1, 2, 3, 4, 1, 3, 0 };
	static const unsigned char other[] = { 1, 2, 1, 1, 2, 0 };
	static void *code[5];
	long sum = stored(code, 0);

	sum += stored(code, 3);
	for (int i = -2; i < 12; i++)
		sum += dense(i) + shifted(98 + i) + two(i, 7 - i);
	sum += by_char("abc+dj+zhgi") + addresses(program) + distances(other);
	printf("\n%ld\n", sum);
	return 0;
}

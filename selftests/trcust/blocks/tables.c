// SPDX-License-Identifier: GPL-2.0
/* Switches whose tables have numbers of each size. */
#include <stdio.h>

#define NOINLINE __attribute__((noinline))
#define TEN(_, n) _(n##0) _(n##1) _(n##2) _(n##3) _(n##4) _(n##5) _(n##6) \
	_(n##7) _(n##8) _(n##9)

volatile int sink[64];

/* a byte each */
NOINLINE static int small(unsigned int i)
{
	switch (i) {
#define TAKE(n) case 1##n - 100: sink[n % 7] += n; break;
	TEN(TAKE, 1) TEN(TAKE, 2)
	default:
		return -1;
	}
	return sink[i & 63];
}

/* two bytes each: what they do takes more code */
NOINLINE static int large(unsigned int i)
{
	switch (i) {
#define TAKE_LARGE(n) case 1##n - 100:					\
		sink[0] += sink[1] ^ n; sink[2] -= sink[3] | n;		\
		sink[4] ^= sink[5] + n; sink[6] += sink[7] % (n + 3);	\
		sink[8] *= sink[9] - n; break;
	TEN(TAKE_LARGE, 1) TEN(TAKE_LARGE, 2) TEN(TAKE_LARGE, 3)
	}
	return sink[0];
}

/* no comparison: there are no others */
NOINLINE static int masked(unsigned int i)
{
	switch (i & 15) {
#define TAKE_MASKED(n) case n: sink[n] ^= n; break;
	TAKE_MASKED(0) TAKE_MASKED(1) TAKE_MASKED(2) TAKE_MASKED(3)
	TAKE_MASKED(4) TAKE_MASKED(5) TAKE_MASKED(6) TAKE_MASKED(7)
	TAKE_MASKED(8) TAKE_MASKED(9) TAKE_MASKED(10) TAKE_MASKED(11)
	TAKE_MASKED(12) TAKE_MASKED(13) TAKE_MASKED(14) TAKE_MASKED(15)
	}
	return sink[1];
}

/* in a loop, from memory */
NOINLINE static int text(const unsigned char *p)
{
	int sum = 0;

	for (; *p; p++)
		switch (*p - 48) {
#define TAKE_TEXT(n) case 1##n - 100: sum += sink[n & 7] + n; break;
		TEN(TAKE_TEXT, 1) TEN(TAKE_TEXT, 2)
		default:
			sum ^= *p;
		}
	return sum;
}

int main(void)
{
	int sum = 0;

	for (int i = -1; i < 45; i++)
		sum += small(i) + large(i) + masked(i);
	sum += text((const unsigned char *)"09:;<=>?@ABCDEFGHIJKLMN");
	printf("%d\n", sum);
	return 0;
}

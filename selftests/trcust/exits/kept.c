/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions with a variable in a register that they save and restore. Each call
 * prints "NAME VARIABLE RESULT" when it has returned.
 */
#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone))

int sink, other;

NOINLINE int touch(int n)
{
	return n ^ sink;
}

/* nothing but the variable */
NOINLINE int one(int n)
{
	register int kept;

	kept = n * 2 + 1;
	sink = kept;
	touch(kept);
	sink += kept;
	return kept;
}

/* the result is another one */
NOINLINE int apart(int n)
{
	register int kept;

	kept = n * 3 + 1;
	touch(kept);
	sink = kept;
	return n - 7;
}

/* several of them */
NOINLINE int many(int n)
{
	register int a = n + 1, b = n + 2, c = n + 3, kept;

	kept = touch(a) - touch(b);
	for (int i = 0; i < c; i++)
		kept += touch(kept) + a * b;
	sink = a ^ b ^ c ^ kept;
	return kept + 1;
}

/* the frame has no fixed size */
NOINLINE int sized(int n)
{
	char text[n + 10];
	register int kept;

	kept = snprintf(text, sizeof(text), "%d", n * 1001);
	sink = text[0];
	touch(kept);
	sink += kept;
	return kept * 2;
}

/* two ways out */
NOINLINE int either(int n)
{
	register int kept;

	kept = n * 5;
	touch(kept);
	sink += kept;
	if (kept > 20)
		return touch(0) + 1;
	sink -= kept;
	return kept - 1;
}

static int caller(int n)
{
	/* what would be seen where a register is the caller's again */
	register int a = -1111111, b = -2222222, c = -3333333, d = -4444444;
	int kept, result;

	sink = 0;
	kept = n * 2 + 1;
	printf("one %d %d\n", kept, one(n));
	printf("apart %d %d\n", n * 3 + 1, apart(n));
	result = many(n);
	printf("many %d %d\n", result - 1, result);
	result = sized(n);
	printf("sized %d %d\n", result / 2, result);
	result = either(n);
	printf("either %d %d\n", n * 5, result);
	sink = a ^ b ^ c ^ d;
	return touch(a) + touch(b) + touch(c) + touch(d);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 9; i++)
		sum += caller(i);
	other = sum;
	return 0;
}

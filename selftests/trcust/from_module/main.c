// SPDX-License-Identifier: GPL-2.0
/* Functions of many kinds; prints what they were called with. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noipa))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

enum color { RED, GREEN = 7, BLUE };
struct pair { int first; short second; };

int other(int n);
int table[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };

static NOINLINE int helper(int n)	/* other.c has another one */
{
	printf("main helper %d\n", n);
	return n + 1;
}

NOINLINE enum color paint(enum color old, const char *what)
{
	printf("paint %d %s\n", old, what);
	return BLUE;
}

NOINLINE long long wide(long long a, unsigned char b, short c, bool d)
{
	printf("wide %lld %u %d %d\n", a, b, c, d);
	return a - 1;
}

NOINLINE bool both(const struct pair *p, struct pair by_value)
{
	printf("both %d %d\n", p->second, by_value.first);
	return p->second == by_value.second;
}

NOINLINE void nothing(void)
{
	puts("nothing");
}

NOINLINE double real(int n)
{
	printf("real %d\n", n);
	return n / 2.0;
}

/* more than a record holds */
NOINLINE char *strings(const char *a, const char *b, const char *c,
		       const char *d, const char *e, char *f,
		       const char *g, const char *h)
{
	printf("strings %s %s %s %s %s %s %s %s\n", a, b, c, d, e, f, g,
	       h);
	return f;
}

/* what is inlined at its beginning has parameters of the same names: with the
 * same values, and with others */
static inline __attribute__((always_inline)) int inner(int n, int m)
{
	return table[n & 7] + m;
}

NOINLINE int outer(int m, int n)
{
	return inner(n, m);
}

NOINLINE int crossed(int m, int n)
{
	int sum = inner(m, n);

	printf("crossed %d %d\n", m, n);
	return sum;
}

NOINLINE __attribute__((cold)) void warn(int n)
{
	printf("warn %d\n", n);
}

/* a part of it is moved away */
NOINLINE int checked(int n)
{
	if (n < 0)
		warn(n);
	return n;
}

int alias_of_outer(int m, int n) __attribute__((alias("outer")));

static NOINLINE int chosen(void)
{
	return 5;
}

static int (*choose(void))(void)
{
	return chosen;
}

int by_processor(void) __attribute__((ifunc("choose")));

NOINLINE __attribute__((noreturn)) void leave(int status)
{
	printf("leave %d\n", status);
	fflush(stdout);
	exit(status);
}

int main(int argc, char **argv)
{
	struct pair p = { 3, -4 };
	char f[] = "f";

	other(helper(40 + argc));
	paint(GREEN, "door");
	wide(-1234567890123LL, 200, -7, true);
	both(&p, p);
	nothing();
	real(3);
	strings("a", "b", "c", "d", "e", f, "g", "h");
	printf("outer %d\n", outer(10, 20));
	checked(crossed(11, 21));
	leave(by_processor() - 5);
}

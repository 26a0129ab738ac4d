// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

struct item { int id; const char *name; struct item *next; };
static int counter;
int total = 5;

static inline __attribute__((always_inline)) int twice(int x)
{
	int y = x * 2;

	counter += y;
	return y;
}

__attribute__((noinline)) int greet(const char *who, int v)
{
	int n = twice(v) + (int)strlen(who);
	struct item it = { n, who };

	printf("%s %d\n", who, n);
	total += it.id;
	return n;
}

__attribute__((noinline)) static void quiet(struct item *p, double d)
{
	p->id += d;

	greet(p->name, p->id);
}

int main(int argc, char **argv)
{
	struct item it = { argc, argv[0], &it };

	quiet(&it, argc);
	return greet("x", argc) < 0;
}

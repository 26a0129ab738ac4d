// SPDX-License-Identifier: GPL-2.0
/* Names with scopes, parameters and templates; each function does something of
 * its own, so that none is folded into another. */
#include <cstdio>

volatile int sink;
#define SHAPE __attribute__((noinline))

namespace shop {
struct basket {
	int count = 0;
	SHAPE int add(int n) { sink = sink + n; return count += n; }
	SHAPE int add(const char *s) { sink = sink + *s; return ++count; }
};
SHAPE int total(int a) { sink = sink + 7; return a * 2; }
}

namespace depot {
SHAPE int total(int a) { sink = sink + 9; return a * 3; }
}

template <class T> SHAPE T twice(T value)
{
	sink = sink + 1;
	return value + value;
}

static inline __attribute__((always_inline)) int small(int a)
{
	sink = sink + a;
	return sink * 3;
}

SHAPE int first(int a) { return small(a) + 1; }
SHAPE int second(int a) { return small(a + 4) ^ 9; }

int main(int argc, char **argv)
{
	shop::basket b;

	for (int i = 0; i < 5; i++) {
		b.add(i);
		first(i);
		second(i);
		twice(i);
		twice(i * 0.5);
		shop::total(i) + depot::total(i);
	}
	return b.add(argv[0]) < 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The program of which scripts/bench_arm arms functions that have a std::string
 * and a std::vector: shaped_10() to shaped_109(), each for its own of them, so that
 * each has a body of its own.
 */
#include <string>
#include <vector>

struct shaped {
	std::string names[110];
	std::vector<int> numbers[110];
};

#define POINT(n)							\
	extern "C" __attribute__((noinline)) long			\
	shaped_##n(const struct shaped *shaped)				\
	{								\
		__asm__ volatile("" : : "r"(shaped) : "memory");	\
		return n;						\
	}
#define POINTS(n)							\
	POINT(n##0) POINT(n##1) POINT(n##2) POINT(n##3) POINT(n##4)	\
	POINT(n##5) POINT(n##6) POINT(n##7) POINT(n##8) POINT(n##9)
POINTS(1) POINTS(2) POINTS(3) POINTS(4) POINTS(5)
POINTS(6) POINTS(7) POINTS(8) POINTS(9) POINTS(10)

int main()
{
	static struct shaped shaped;

	return shaped_10(&shaped) != 10;
}

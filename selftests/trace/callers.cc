// SPDX-License-Identifier: GPL-2.0
/* Calls of all kinds that end in sample(): the C library's, virtual ones, lambdas,
 * exceptions in between, frames that are realigned or grow. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" __attribute__((noinline)) void sample(int n)
{
	asm volatile("" : : "r"(n) : "memory");
}

struct shape {
	virtual ~shape() = default;
	virtual int area(int n) const = 0;
};

struct square : shape {
	int area(int n) const override
	{
		sample(n);
		return n * n;
	}
};

struct wide : shape {
	int area(int n) const override
	{
		alignas(64) volatile int parts[16] = { n };
		volatile char *room = static_cast<char *>(alloca(n % 100 + 1));

		room[0] = 1;
		sample(n + room[0]);
		return parts[0];
	}
};

static int compare(const void *a, const void *b)
{
	int x = *static_cast<const int *>(a), y = *static_cast<const int *>(b);

	sample(x);
	return x < y ? -1 : x > y;
}

static __attribute__((noinline)) int deep(int n,
					  const std::function<int(int)> &then)
{
	if (n)
		return 1 + deep(n - 1, then) * (n & 1);
	return then(n);
}

static int throwing(int n)
{
	try {
		sample(n);
		if (n % 3 == 0)
			throw std::runtime_error(std::to_string(n));
		return n;
	} catch (const std::exception &) {
		sample(-n);
		return 0;
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	std::vector<std::unique_ptr<shape>> shapes;
	std::map<std::string, int> names;
	long sum = 0;

	/* the tables of a program that starts are made at its first hit */
	sample(0);
	usleep(300000);
	shapes.emplace_back(new square);
	shapes.emplace_back(new wide);
	for (int i = 0; i < rounds; i++) {
		int numbers[4] = { i % 7, i % 5, i % 3, i % 2 };

		for (const auto &s : shapes)
			sum += s->area(i);
		qsort(numbers, 4, sizeof(*numbers), compare);
		std::sort(numbers, numbers + 4, [](int a, int b) {
			sample(a);
			return a < b;
		});
		sum += deep(i % 20, [i](int n) { return throwing(i + n); });
		names[std::to_string(i)] = throwing(i);
	}
	printf("%ld\n", sum + static_cast<long>(names.size()));
	return 0;
}

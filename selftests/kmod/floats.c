// SPDX-License-Identifier: GPL-2.0
/*
 * Gives functions floating point in vector registers and prints what they got,
 * as the tracepoints of test_floats.sh have it. In between other threads use
 * these registers, so that the kernel saves them.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double pair __attribute__((vector_size(16)));

struct point {
	double x, y;
};

struct mixed {
	float f;
	int i;
	long l;
};

static volatile double sink;

__attribute__((noinline, noclone)) void
eight(double a, double b, double c, double d, double e, double f, double g,
      double h)
{
	sink = a + b + c + d + e + f + g + h;
}

__attribute__((noinline, noclone)) void singles(float a, int n, float b,
						double c)
{
	sink = a + b + c + n;
}

__attribute__((noinline, noclone)) void points(struct point p,
					       struct mixed m, pair v)
{
	sink = p.x + p.y + m.f + (double)m.i + (double)m.l + v[0] + v[1];
}

/* What they return */
__attribute__((noinline, noclone)) double ratio(double x)
{
	return x / 3 + 1;
}

__attribute__((noinline, noclone)) struct point swapped(struct point p)
{
	return (struct point){ p.y * 3, p.x - 1 };
}

static uint64_t bits64(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, 8);
	return bits;
}

static uint32_t bits32(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, 4);
	return bits;
}

static void *disturb(void *done)
{
	double x = 1;

	while (!*(volatile int *)done)
		x = x * 1.000001 + sink;
	return x == 7 ? done : NULL;
}

#define B(x)	(unsigned long long)bits64(x)

static void round_print(double x)
{
	struct point p = { x / 5, -x };
	struct mixed m = { x / 9, 3, 4 };
	pair v = { x / 11, x / 13 };

	eight(x, x / 3, -x / 7, 1 / x, x * 1e300, x * 1e-310, 0, -0.0);
	printf("eight %016llX %016llX %016llX %016llX %016llX %016llX %016llX "
	       "%016llX\n",
	       B(x), B(x / 3), B(-x / 7), B(1 / x), B(x * 1e300),
	       B(x * 1e-310), B(0), B(-0.0));
	singles(x / 3, 5, -x / 7, x / 9);
	printf("singles %08X %08X %016llX\n", bits32(x / 3), bits32(-x / 7),
	       B(x / 9));
	points(p, m, v);
	printf("points %016llX %016llX %08X %016llX %016llX\n", B(p.x), B(p.y),
	       bits32(m.f), B(v[0]), B(v[1]));
	printf("ratio %016llX\n", B(ratio(x)));
	p = swapped(p);
	printf("swapped %016llX %016llX\n", B(p.x), B(p.y));
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	int threads = argc > 2 ? atoi(argv[2]) : 0, done = 0;
	pthread_t thread[8];

	for (int i = 0; i < threads && i < 8; i++)
		if (pthread_create(&thread[i], NULL, disturb, &done))
			return 2;
	for (int i = 0; i < rounds; i++)
		round_print(1.5 + i * 0.37);
	done = 1;
	for (int i = 0; i < threads && i < 8; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* Functions inlined into each other that use the same names for different
 * types. A line with a mark is asked for: the mark has what `p` is in it. */
struct pair { int id; int w[3]; };
extern "C" int printf(const char *, ...);

static inline int low(const short *p)
{						// p: short *
	int sum = 0;				// p: short *

	for (int i = 0; i < 3; i++)
		sum += p[i] * sum + 1;		// p: short *
	return sum;
}

static inline int middle(const int *p)
{						// p: int *
	return low((const short *)p) + 1;	// p: int *
}

static int one(const char *p) { return p[3]; } static int two(const long *p) {
	return one((const char *)p) + p[1]; }	// p: long *

struct part {
	unsigned short *p;

	inline int first() const
	{
		return *p;			// p: unsigned short *
	}
};

struct whole {
	part in;
	float *p;

	__attribute__((noinline)) int run(int k) const
	{					// p: float *
		return in.first() / k;		// p: float *
	}
};

extern "C" __attribute__((noinline)) int use(pair *p, int k)
{						// p: pair *
	return middle(&p->w[0]) / k;		// p: pair *
}

extern "C" __attribute__((noinline)) int twice(long *p, int k)
{						// p: long *
	int sum = two(p) / k;			// p: long *
	{
		const short *p = (const short *)&k;

		return low(p) + sum;
	}
}

extern "C" __attribute__((noinline)) int local(unsigned *p, int k)
{
	auto half = [&](const double *p) {
		return *p > 2;			// p: double *
	};
	int first = p[0] / k;			// p: unsigned *

	return half((double *)(p + 2)) + first;	// p: unsigned *
}

int main(int argc, char **argv)
{
	pair q = { 7, { 11, 22, 33 } };
	long l[2] = { argc, 2 };
	unsigned u[4] = { 1, 2, 3, 4 };
	unsigned short c[] = { 1 };
	whole w = { { c }, 0 };

	return printf("%d %d %d %d\n", use(&q, argc), twice(l, argc),
		      local(u, argc), w.run(argc)) < 0;
}

// SPDX-License-Identifier: GPL-2.0
/* Values in registers, slots, pieces, constants; some only callers know. */
#include <stdio.h>
#include <string.h>

#define NEVER_INLINE	__attribute__((noinline))

struct pair {
	int a;
	short b;
	char c[6];
};

struct big {
	long x[6];
	struct pair p;
};

enum color { RED, GREEN = 5, BLUE };

static int counter;
int total = 7;
__thread int tls_var = 5;
static __thread long tls_static = 9;
static struct big table[4];

NEVER_INLINE int leaf(int a, long b, struct pair p, double d)
{
	static int calls;
	int r = a * 3 + (int)b;

	calls++;
	counter += r;
	tls_var += a;
	tls_static += b;
	for (int i = 0; i < a; i++) {
		int square = i * i;

		r += square;
		if (r > 1000) {
			long third = r / 3;

			r -= third;
		}
	}
	return r + p.a + p.b + (int)d + (int)strlen(p.c);
}

static inline int inlined(struct big *b, int n)
{
	enum color color;
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += b->x[i];
	color = sum > 3 ? GREEN : RED;
	return sum + color;
}

NEVER_INLINE long many(int a, int b, int c, int d, int e, int f, int g, int h,
		       struct big by)
{
	long sum = a + b + c + d + e + f + g + h;
	unsigned long long wide = sum;

	wide *= by.x[2];
	total += sum;
	printf("%ld\n", sum);
	return sum + (long)wide + inlined(&by, 3) + a - h;
}

NEVER_INLINE unsigned int recursive(unsigned int n, const char *s)
{
	unsigned char c = s[n];
	unsigned int r;

	if (!n)
		return c;
	r = recursive(n - 1, s);
	return r * 31 + c + n;
}

NEVER_INLINE static int reduced(int unused, int x, char *buffer)
{
	int y = x;

	snprintf(buffer, 20, "%d", x);
	y += buffer[0];
	return y;
}

int main(int argc, char **argv)
{
	char buffer[32];
	struct big b;
	unsigned int u;
	int v, z, sized[argc + 3];
	long l;

	memset(&b, 0, sizeof(b));
	for (int i = 0; i < 6; i++)
		b.x[i] = i * argc;
	strcpy(b.p.c, "hey");
	b.p.a = 3;
	v = leaf(argc + 4, 17, b.p, 2.5);
	l = many(1, 2, 3, v, 5, 6, 7, 8, b);
	u = recursive(5, "hello world");
	z = reduced(1, v, buffer) + reduced(2, (int)l, buffer);
	table[1] = b;
	for (int i = 0; i < argc + 3; i++)
		sized[i] = i + z;
	printf("%d %ld %u %d %d\n", v, l, u, z, sized[2]);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
// Which variable, constant or type a name means in C.
#include "print.h"

struct s { int x, y; };
enum e { RED = 1, BLUE = 2 };
typedef int num;
static int count = 3;
static int unlike = 4;
int common = 5;
int other(void *p), third(int p);

static INL int inlined(int p)
{
	static int count = 20;

	P(count);
	P(unlike);
	count += p;
	return p;
}

NI int first(void *p, int k)
{
	struct s *q = p;
	int common = k + 10;

	P(q->x);
	P(((struct s *)p)->y);
	P(sizeof(struct s));
	P(sizeof(num));
	P(RED);
	P(count);
	P(common);
	{
		static int count = 6;
		enum { RED = 7 };
		struct s { char c; };

		P(count);
		P(RED);
		P(sizeof(struct s));
		P(((struct s *)p)->c);
		count++;
	}
	P(count);
	P(unlike);
	return inlined(k) + q->x;
}

int main(void)
{
	long d[4] = { 0x0000000200000001, 0x0000000400000003, 5, 6 };

	first(d, 1);
	first(d, 2);
	return other(d) + third(1) == 0;
}

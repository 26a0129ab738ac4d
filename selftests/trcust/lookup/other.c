// SPDX-License-Identifier: GPL-2.0
// Names that names.c has, too.
#include "print.h"

struct s { long pad; int y, x; };
enum e { BLUE = 101, RED = 102 };
typedef unsigned char num;
static int count = 11;
static const int unlike = 12;
extern int common;

NI int other(void *p)
{
	struct s *q = p;

	P(q->x);
	P(((struct s *)p)->y);
	P(sizeof(struct s));
	P(sizeof(num));
	P((num)0x1234);
	P(RED);
	P(BLUE);
	P(count);
	P(common);
	P(unlike);
	return q->x + count++;
}

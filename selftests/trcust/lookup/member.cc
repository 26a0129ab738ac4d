// SPDX-License-Identifier: GPL-2.0
// Pointers to members, virtual bases, and members of two base classes.
#include "print.h"

struct base { int b = 1; virtual ~base() {} };
struct shape : virtual base {
	int x = 3, y = 4;
	NI int method(int a) { return a + x; }
	virtual int called(int a) { return a + y; }
};
struct empty : virtual base {};
struct one { int twice = 5; };
struct two { int twice = 6; };
struct both : one, two {};
struct held { int shape::*data; int (shape::*code)(int); int last; };

NI int work(shape *s, empty *e, both *t, int shape::*data,
	    int (shape::*code)(int), held *h)
{
	return s->*data + (s->*code)(h->last) + e->b + t->one::twice;
}

int main()
{
	shape s;
	empty e;
	both t;
	held h = { &shape::y, &shape::method, 7 };

	return !work(&s, &e, &t, &shape::y, &shape::called, &h);
}

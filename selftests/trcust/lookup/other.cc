// SPDX-License-Identifier: GPL-2.0
// Names that names.cc has, too.
#include "names.h"

static int own = 108;
static int st = 102;
namespace space { int declared = 103; static int only = 104; }
namespace { int hidden_here = 105; struct s { int pad, first; }; }
extern int g;

NI int other(int p)
{
	s v = { p, 106 }, *q = &v;

	P(own);
	P(st);
	P(g);
	P(shared);
	P(space::declared);
	P(space::only);
	P(hidden_here);
	P(counted::number);
	P(q->first);
	P(((s *)q)->first);
	P(sizeof(s));
	return p;
}

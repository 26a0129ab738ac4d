// SPDX-License-Identifier: GPL-2.0
// Which variable, constant, member or type a name means in C++.
#include "names.h"

int g = 1, st = 2, LOC = 3, only_b = 4, hidden = 5, twice = 6, len = 7;
static int own = 8;
enum { RED = 1001 };
enum shade { DARK = 1002, PALE };
int shared = 9;
int counted::number = 10;

struct base {
	static int st;
	enum { LOC = 23 };
	int len = 11, x = 12, y = 13;
};
int base::st = 24;

struct derived : base {
	int len = 14;
	long y = 15;
	static int mine;
	union { int in_union; short half; };
	struct { int in_struct; };
	NI int method(int p);
	INL int inlined(int p);
	static NI int of_class(int p);
};
int derived::mine = 16;

struct twin { static int many; int a = 17, same = 18; };
int twin::many = 19;
struct left : twin { int l = 20; };
struct right : twin { int r = 21; };
struct both : left, right {
	int b = 22;
	NI int method(int p);
};

struct root { int in_root = 25, reached = 26; virtual ~root() {} };
struct one : virtual root { int in_one = 27; };
struct two : virtual root { int in_two = 28, reached = 29; };
struct diamond : one, two {
	int in_diamond = 30;
	NI int method(int p);
};

namespace n1 {
int g = 31;
int only_n1 = 32;
enum color { RED = 33, GREEN };
enum class mood { RED = 35, FINE };
namespace deep { int g = 36; int below = 37; enum { FLAT = 38 }; }
inline namespace v1 { int versioned = 39; int g_v1 = 40; }
namespace { int nameless = 41; }
struct s { int g = 42; int m(int p); struct nested { static int in_nested; int n = 43; }; };
int s::nested::in_nested = 44;

NI int s::m(int p)
{
	P(g);
	P(::g);
	P(n1::g);
	P(::n1::g);
	P(this->g);
	P(nested::in_nested);
	P(s::nested::in_nested);
	P(RED);
	P(::RED);
	P(color::RED);
	P((int)mood::RED);
	P(GREEN);
	P(versioned);
	P(v1::versioned);
	P(n1::versioned);
	P(::n1::v1::versioned);
	P(nameless);
	P(n1::nameless);
	P(deep::g);
	P(deep::FLAT);
	P(n1::deep::below);
	P(st);
	return p;
}

NI int f(int p)
{
	static int g_static = 45;

	P(g);
	P(::g);
	P(g_static);
	{
		int g = p + 46;

		P(g);
		P(::g);
		P(n1::g);
		{
			long g = p + 47;

			P(g);
			P(shared);
		}
		P(g);
	}
	g_static++;
	P(g);
	return p;
}
}

namespace n2 { int nv = 51; enum { BLUE = 52 }; int brought = 53; }
namespace n3 { int nv = 54; enum { BLUE = 55 }; using namespace n2;
NI int h(int p)
{
	using n2::nv;
	P(nv);
	P(BLUE);
	P(brought);
	P(n3::nv);
	P(n2::BLUE);
	P(n3::brought);
	return p;
}
NI int k(int p)
{
	using namespace n1::deep;
	P(nv);
	P(below);
	P(FLAT);
	return p;
}
}
namespace alias = n1::deep;
namespace aliases { namespace a = n2; }

template <class T> struct box {
	static T held;
	T v;
	NI int go(int p);
};
template <class T> T box<T>::held = 70 + sizeof(T);
template <class T> NI int box<T>::go(int p)
{
	static int loc = 80;

	P(loc);
	P((long)held);
	P((long)v);
	P((long)box::held);
	loc += sizeof(T);
	return p;
}

int derived::method(int p)
{
	P(len);
	P(::len);
	P(base::len);
	P(this->base::len);
	P(x);
	P(y);
	P(base::y);
	P(st);
	P(::st);
	P(base::st);
	P(LOC);
	P(::LOC);
	P(derived::LOC);
	P(derived::st);
	P(mine);
	P(in_union);
	P(in_struct);
	return p;
}

int derived::inlined(int p)
{
	P(len);
	P(st);
	P(mine);
	P(g);
	return p;
}

int derived::of_class(int p)
{
	int len = p + 90;
	extern int shared;

	P(mine);
	P(st);
	P(LOC);
	P(len);
	P(::len);
	return p;
}

int both::method(int p)
{
	P(many);
	P(l);
	P(left::a);
	P(right::same);
	P(twin::many);
	return p;
}

int diamond::method(int p)
{
	P(in_root);
	P(reached);
	P(root::reached);
	P(in_one);
	P(this->in_root);
	P(in_diamond);
	return p;
}

INL int with_static(int p)
{
	static int twice = 91;

	P(twice);
	twice += p;
	return p;
}

INL int with_another(int p)
{
	static int twice = 92;

	P(twice);
	twice += p;
	return p;
}

NI int calls(derived *d, const derived &r, both *b, diamond *w, int p)
{
	P(d->len);
	P(d->base::len);
	P(d->y);
	P(d->x);
	P(r.len);
	P(d->st);
	P(d->LOC);
	P(d->mine);
	P(d->in_union);
	P(b->left::a);
	P(b->r);
	P(w->in_root);
	P(w->reached);
	P(w->in_two);
	P(own);
	P(alias::g);
	P(aliases::a::nv);
	P(twice);
	P(shared);
	P(counted::number);
	P(counted::LIMIT);
	P(space::declared);
	P(DARK);
	P(shade::PALE);
	P(n1::deep::g);
	P(n1::s::nested::in_nested);
	P(((n1::s *)nullptr == nullptr));
	P(sizeof(n1::s));
	P(sizeof(derived));
	p += with_static(p);
	p += with_another(p);
	p += d->inlined(p);
	P(p);
	return p;
}

int main()
{
	derived d;
	both b;
	diamond w;
	n1::s s;
	box<char> c = { 71 };
	box<long> l = { 72 };

	d.in_union = 73;
	d.in_struct = 74;
	s.m(1);
	n1::f(0);
	n1::f(1);
	n3::h(1);
	n3::k(1);
	c.go(1);
	l.go(1);
	c.go(1);
	d.method(1);
	derived::of_class(1);
	b.method(1);
	w.method(1);
	calls(&d, d, &b, &w, 1);
	return other(1) == 0;
}

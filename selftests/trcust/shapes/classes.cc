// SPDX-License-Identifier: GPL-2.0
// Functions with pointers to objects of derived classes; prints what tracefmt has
// to print.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
using std::string;
using std::to_string;

#define KEEP(x) asm volatile("" :: "r"(&x) : "memory")
#define POINT __attribute__((noinline))

namespace geo {

struct Shape {
	int id;
	Shape(int id) : id(id) {}
	virtual ~Shape() {}
	virtual string shown() const = 0;
	// in an element of a sequence, which has no parts
	virtual string brief() const { return shown(); }
};

struct Named {
	string name;
	virtual ~Named() {}
	virtual string whole() const = 0;
};

static string base(int id) { return "Shape = {id = " + to_string(id) + "}"; }

struct Circle : Shape {
	int r;
	Circle(int id, int r) : Shape(id), r(r) {}
	string own() const
	{
		return "{" + base(id) + ", r = " + to_string(r) + "}";
	}
	string shown() const override { return "geo::Circle " + own(); }
};

// a pointer to Named is not one to the object
struct Rect : Shape, Named {
	int w, h;
	Rect(int id, int w, int h, string n) : Shape(id), w(w), h(h)
	{
		name = n;
	}
	string shown() const override
	{
		return "geo::Rect {" + base(id) + ", Named = {name = \"" + name +
		       "\"}, w = " + to_string(w) + ", h = " + to_string(h) + "}";
	}
	string brief() const override { return "geo::Rect"; }
	string whole() const override { return shown(); }
};

struct Plain { long pad = 9; };

struct Odd : Plain, Circle {
	int z;
	Odd(int id) : Circle(id, 8), z(5) {}
	string shown() const override
	{
		return "geo::Odd {Plain = {pad = 9}, Circle = " + own() +
		       ", z = 5}";
	}
};

template<class T> struct Box : Shape {
	T t;
	Box(int id, T t) : Shape(id), t(t) {}
	string shown() const override
	{
		return "geo::Box<int> {" + base(id) + ", t = " + to_string(t) +
		       "}";
	}
};

}
using namespace geo;

struct Fault : std::runtime_error {
	int code;
	Fault(string s, int code) : runtime_error(s), code(code) {}
};

POINT void work(Shape *s, Named *n, const Shape &r, std::unique_ptr<Shape> &u)
{
	KEEP(s); KEEP(n); KEEP(r); KEEP(u);
	printf("s=%s\nn=%s\nr=%s\nu=%s\n", s->shown().c_str(),
	       n->whole().c_str(), r.shown().c_str(),
	       u ? u->shown().c_str() : "NULL");
}

POINT void several(std::vector<std::unique_ptr<Shape>> &v)
{
	string text = "{";

	KEEP(v);
	for (auto &x : v)
		text += (text.size() > 1 ? ", " : "") + x->brief();
	printf("v=%s}\n", text.c_str());
}

POINT void faults(std::exception *e, std::runtime_error *r)
{
	Fault *f = dynamic_cast<Fault *>(e);

	KEEP(e); KEEP(r);
	printf("e=%s\nt=%s\n", f ? ("Fault {runtime_error = \"" +
				  string(f->what()) + "\", code = " +
				  to_string(f->code) + "}").c_str() :
				 "std::exception", r->what());
}

POINT void calls(std::function<int(int)> &f, const char *name)
{
	KEEP(f);
	printf("f=%s\n", name);
}

struct Adder { int k; int operator()(int x) { return x + k; } };

static int add(int x) { return x + 1; }

// what is not an object, and what is no more
POINT void hostile(Shape *s)
{
	KEEP(s);
}

static int draw(int n) { return random() % n; }

static string word(int most)
{
	string s;

	for (int n = draw(most); n > 0; n--)
		s += 'a' + draw(26);
	return s;
}

static Shape *shape()
{
	switch (draw(4)) {
	case 0: return new Circle(draw(99), draw(99));
	case 1: return new Rect(draw(99), draw(9), draw(9), word(40));
	case 2: return new Odd(draw(99));
	}
	return new Box<int>(draw(99), draw(99));
}

int main(int argc, char **argv)
{
	alignas(8) char zero[64] = "", wild[64], middle[64];

	for (int round = atoi(argv[1]); round; round--) {
		Rect n(draw(9), draw(9), draw(9), word(40));
		std::unique_ptr<Shape> s(shape()), r(shape()), u(shape());
		std::vector<std::unique_ptr<Shape>> v(draw(4));
		Fault f(word(30), draw(99));
		std::logic_error l("logic");
		std::function<int(int)> g[] = { Adder{ draw(9) }, add, {} };
		static const char *const names[] = {
			"Adder", "int (*)(int)", "NULL",
		};
		int i = draw(3);

		for (auto &x : v)
			x.reset(shape());
		if (!draw(4))
			u.reset();
		work(s.get(), &n, *r, u);
		several(v);
		faults(draw(2) ? (std::exception *)&f : &l, &f);
		calls(g[i], names[i]);
	}
	memset(wild, 0x55, sizeof(wild));
	memset(middle, 0, sizeof(middle));
	*(void **)middle = middle + 32;
	hostile(NULL);
	hostile((Shape *)zero);
	hostile((Shape *)wild);
	hostile((Shape *)middle);
	hostile((Shape *)16);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include <cstdio>
#include <string>

#define NOINLINE __attribute__((noinline))

namespace draw {

struct Shape {
	int side;
	explicit Shape(int s) : side(s) {}
	virtual ~Shape() {}
	virtual NOINLINE int area(int scale) const;
};

NOINLINE int Shape::area(int scale) const
{
	std::printf("area %d\n", scale);
	return side * scale;
}

NOINLINE int add(int a, int b)
{
	std::printf("add %d %d\n", a, b);
	return a + b;
}

NOINLINE int add(const std::string &a, char c)
{
	std::printf("add %s %c\n", a.c_str(), c);
	return c;
}

template <typename T> NOINLINE T twice(T value)
{
	std::printf("twice\n");
	return value + value;
}

}

// names of more than 200 bytes
namespace deep {

template <typename A, typename B> struct a_pair_of_two_different_types {
	A first;
	B second;
	NOINLINE bool operator<(const a_pair_of_two_different_types &other) const
	{
		return first.n < other.first.n;
	}
	NOINLINE int sum() { return first.n; }
};

struct a_number_that_is_the_first { int n; };
struct a_number_that_is_the_second { int n; };
typedef a_pair_of_two_different_types<a_number_that_is_the_first,
				      a_number_that_is_the_second> inner;

template <typename T> struct a_list_of_some_length { int n; };

typedef a_pair_of_two_different_types<a_list_of_some_length<inner>,
	a_list_of_some_length<a_list_of_some_length<inner> > > all;

}

namespace {

NOINLINE int hidden(int n)
{
	std::printf("hidden %d\n", n);
	return n;
}

}

int main(void)
{
	draw::Shape shape(3);
	deep::all one = {}, other = {};

	draw::add(shape.area(7), hidden(2));
	draw::add(std::string("text"), 'x');
	return draw::twice(2) - draw::twice(2L) + (one < other) + one.sum();
}

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

	draw::add(shape.area(7), hidden(2));
	draw::add(std::string("text"), 'x');
	return draw::twice(2) - draw::twice(2L);
}

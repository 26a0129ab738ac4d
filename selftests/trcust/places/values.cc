// SPDX-License-Identifier: GPL-2.0
#include <cstdio>
#include <string>
#include <vector>

#define NEVER_INLINE __attribute__((noinline))

namespace ns {
int global = 11;
static int local = 12;

struct cls {
	int a;
	short b;
	static int count;
	std::string name;

	virtual ~cls() {}
	int method(int x, const std::string &s);
	template <class T> T instance(T v)
	{
		T w = v + a;

		count += (int)w;
		return w;
	}
};

int cls::count = 3;

NEVER_INLINE int cls::method(int x, const std::string &s)
{
	static int calls = 100;
	int r = x * a;

	calls++;
	for (char c : s) {
		int k = c;

		r += k;
	}
	count += r;
	auto lambda = [&](int q) {
		int z = q + r;

		return z * x;
	};
	return lambda(5) + calls + local;
}
}

template <class T> NEVER_INLINE T sum(const std::vector<T> &v)
{
	T t{};

	for (const T &x : v)
		t += x;
	return t;
}

NEVER_INLINE int change(int &r, ns::cls &&c, bool flag)
{
	int old = r;

	r = c.a + flag;
	return old;
}

int main(int argc, char **argv)
{
	std::vector<long> numbers;
	ns::cls c;

	c.a = argc + 2;
	c.b = 4;
	c.name = "name";
	int v = c.method(argc * 3, "abc");
	for (int i = 0; i < 5; i++)
		numbers.push_back(i * v);
	long s = sum(numbers);
	int w = v, old = change(w, ns::cls(c), argc == 1);
	long d = c.instance(3L) + c.instance((short)4);
	printf("%d %ld %d %ld %d\n", v, s, old, d, ns::global);
	return 0;
}

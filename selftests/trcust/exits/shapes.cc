// SPDX-License-Identifier: GPL-2.0
/* As shapes.c: functions with destructors and exceptions. What leaves by an
 * exception is not printed. */
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef __clang__
#define SHAPE extern "C" __attribute__((noinline))
#else
#define SHAPE extern "C" __attribute__((noipa))
#endif

volatile int sink;

struct guard {
	int *p;
	explicit guard(int *q) : p(q) { ++*p; }
	~guard() { --*p; sink = sink + *p; }
};

SHAPE int fail(int a)
{
	if (a > 5)
		throw a;
	return a + 10;
}

SHAPE int fail_again(int a)
{
	if (a % 3 == 0)
		throw a;
	if (a % 3 == 1)
		throw std::runtime_error("no");
	return a + 10;
}

SHAPE int caught(int a)
{
	try {
		return fail_again(a) * 2;
	} catch (int n) {
		sink = sink + n;
		return -n - 1;
	} catch (const std::exception &e) {
		return e.what()[0];
	}
}

SHAPE int guarded(int a)
{
	int n = a;
	guard one(&n);

	if (a > 4)
		return fail_again(a) + n;
	guard two(&n);
	return n + sink;
}

SHAPE int text(int a)
{
	std::string s(a * 3, 'x');

	if (s.size() > 10)
		return s.size();
	s += "more text than fits into a short string";
	return s.find('m') + a;
}

SHAPE int numbers(int a)
{
	std::vector<int> v;

	for (int i = 0; i < a; i++) {
		if (i == 5)
			return v.back();
		v.push_back(i * i);
	}
	return v.empty() ? -1 : v.at(v.size() / 2);
}

static void note(const char *name, int value)
{
	printf("%s %d\n", name, value);
}

#define CALL(f, a) try { note(#f, f(a)); } catch (...) { }

int main()
{
	for (int i = 0; i < 9; i++) {
		CALL(fail, i);
		CALL(caught, i);
		CALL(guarded, i);
		CALL(text, i);
		CALL(numbers, i);
	}
	return 0;
}

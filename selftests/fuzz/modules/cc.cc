/* SPDX-License-Identifier: GPL-2.0 */
/* What debug information of C++ has: scopes, members, references, templates. */
namespace ns {
struct base {
	virtual ~base() {}
	virtual int run(int n) { return n; }
	int inherited = 1;
	static int shared;
};
int base::shared = 2;
struct derived : virtual base {
	int run(int n) override;
	int member = 3;
	using pointer = int *;
	enum class kind : unsigned char { one, two } what = kind::two;
};
template <typename T, int N> struct box {
	T values[N];
	const T &at(int i) const { return values[i % N]; }
};
namespace {
int hidden = 4;
}
__attribute__((noinline)) int derived::run(int n)
{
	auto add = [this, n](int &&x) { return x + member + n; };

	return add(hidden + inherited);
}
template <typename T> __attribute__((noinline)) T large(const T &a, T b)
{
	return a < b ? b : a;
}
}
using namespace ns;
int take(const box<long, 3> &b, int derived::*p, derived *d, decltype(nullptr))
{
	try {
		if (d->*p > 5)
			throw 1;
	} catch (int caught) {
		return caught;
	}
	return b.at(1);
}
int main(int argc, char **argv)
{
	derived d;
	box<long, 3> b = { { argc, 2, 3 } };

	return d.run(argc) + large<long>(argc, 2) +
	       take(b, &derived::member, &d, nullptr) + base::shared;
}

// SPDX-License-Identifier: GPL-2.0
// Mangled names: two overloads, and a static member.
namespace shop {
struct basket {
	int weight;
	static int count;
	__attribute__((noinline)) int add(int item);
	__attribute__((noinline)) int add(const char *item);
};
int basket::count;
int basket::add(int item) { count++; return weight += item; }
int basket::add(const char *item) { count++; return weight += item[0]; }
}

int main(int argc, char **argv)
{
	shop::basket b = { 0 };

	return b.add(argc) + b.add(argv[0]) & 1;
}

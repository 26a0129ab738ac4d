// SPDX-License-Identifier: GPL-2.0
// What C++ adds: classes, namespaces, references, `this`.

namespace space {
	int inside = 7;

	enum class level : unsigned char { low = 1, high = 200 };

	class base {
	public:
		int number = 11;
		long common = -12;
	};

	struct other {
		short common = 5;
		short alone = -6;
	};

	template <typename T> struct box {
		T value;
		static int made;
	};
	template <typename T> int box<T>::made = 3;

	class shape : public base, public other {
	public:
		int width = 30, height = 40;
		unsigned int small : 4;
		level how = level::high;
		static int count;
		int &referred = inside;
		box<char> held = { 'x' };
		box<long> longs[2] = { { 5 }, { -6 } };
		int member(int scale, const shape &peer, int &&moved);
	};
	int shape::count = 2;
}

int width = 1000;
int global = -1;

#define KEEP(x)	__asm__ volatile("" : : "g"(x) : "memory")

int space::shape::member(int scale, const shape &peer, int &&moved)
{
	int sum = scale * width;
	int &alias = sum;

	__asm__ volatile(".globl at_work\nat_work: nop" : : : "memory");
	KEEP(this);
	KEEP(&peer);
	KEEP(&moved);
	KEEP(&alias);
	KEEP(scale);
	return sum + peer.height + moved + box<char>::made;
}

int (space::shape::*volatile called)(int, const space::shape &, int &&) =
	&space::shape::member;

int main()
{
	static space::shape one, two;

	one.small = 9;
	two.width = -31;
	return (one.*called)(3, two, 77) + width + global;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* What debug information of C has: locations, entry values, pieces, inlined
 * copies, types of each kind. */
enum color { RED, GREEN = 7 };
union word { long number; char bytes[8]; };
struct node {
	struct node *next;
	const char *name;
	unsigned int low : 3, high : 7;
	enum color color;
	union word words[2];
	double weight;
	int (*call)(struct node *node, int);
};
static __thread int per_thread;
int total[4];
extern int outside(int, ...);

static inline __attribute__((always_inline)) int twice(int n)
{
	int local = n * 2;

	return local + per_thread;
}

__attribute__((noinline)) int sum(struct node *node, int n, const char *text)
{
	int result = 0;

	for (; node; node = node->next) {
		int each = twice(n) + node->low;

		result += each + text[n & 3];
		total[n & 3] += outside(each, result);
	}
	return result;
}

struct pair { long a, b; };

__attribute__((noinline)) struct pair make(long a, struct pair by_value,
					   double weight)
{
	struct pair made = { a + by_value.a, by_value.b + (long)weight };

	return made;
}

int choose(int which, short small, unsigned char tiny, _Bool flag)
{
	switch (which) {
	case 1: return outside(small) + tiny;
	case 2: return outside(tiny) + flag;
	case 3: return twice(which + small);
	case 4: return total[which & 3];
	case 5: return -1;
	default: return outside(which);
	}
}

int outside(int n, ...)
{
	struct pair pair = make(n, (struct pair){ n, 2 }, n);

	return (int)(pair.a ^ pair.b);
}

int main(int argc, char **argv)
{
	struct node node = { 0, argv[0], 1, 2, GREEN, { { 3 } }, 4.5, 0 };

	return sum(&node, argc, argv[0]) + choose(argc, argc, argc, argc > 1);
}

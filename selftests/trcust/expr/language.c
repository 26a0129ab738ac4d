// SPDX-License-Identifier: GPL-2.0
/* Something of every kind that C has, looked at from at_work. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "opaque.h"

enum color { RED, GREEN = 5, BLUE };
enum balance { BELOW = -3, ABOVE = 3 };

typedef struct {
	int x, y;
} point_t;

struct flags {
	unsigned int a : 3, b : 5;
	int c : 7;
	uint64_t d : 40;
	_Bool e : 1;
	int64_t f : 33;
};

struct packed {
	unsigned char before;
	uint64_t wide : 61;
	int64_t last : 60;
} __attribute__((packed));

struct node {
	struct node *next;
	char name[16];
	int len;
	uint8_t mac[6];
	double weight;
	struct flags flags;
	point_t at;
	union {
		int i;
		float f;
		struct {
			short low, high;
		};
	};
	enum color color;
	enum balance balance;
	bool ready;
	const char *text;
	int (*call)(int);
	struct packed packed;
	struct opaque *opaque;
	int matrix[2][3];
	long double wide;
	unsigned char tail[];
};

static int twice(int n)
{
	return 2 * n;
}

struct node last = {
	.name = "last", .len = -2147483647 - 1, .mac = { 1, 2, 3, 4, 5, 6 },
	.weight = 2.5, .flags = { 1, 2, -3, 0x123456789a, 1, -1 },
	.at = { 3, 4 }, .i = -1, .color = BLUE, .balance = BELOW,
	.text = "the last one", .packed = { 1, 0x1fffffffffffffff, -2 },
	.matrix = { { 1, 2, 3 }, { 4, 5, 6 } },
};
struct node first = {
	.next = &last, .name = "sixteen letters.", .len = -5,
	.mac = { 0xf9, 8, 7, 6, 5, 4 }, .weight = -1.5,
	.flags = { 7, 31, -64, 0xffffffffff, 0, 0xffffffff }, .at = { -1, -2 },
	.high = -7, .low = 3, .color = GREEN, .balance = ABOVE, .ready = true,
	.text = "first", .call = twice, .packed = { 9, 5, 6 },
	.matrix = { { -1, -2, -3 }, { -4, -5, -6 } }, .wide = 1.25,
};

int table[4][3] = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 }, { 10, 11, 12 } };
uint64_t big = 0xfedcba9876543210u;
uint64_t huge = 0xffffffffffffffffu;
int64_t least = -0x7fffffffffffffff - 1;
const char *words[] = { "zero", "one", "two", NULL };
unsigned char letters[8] = "letters";
int8_t bytes[4] = { -1, 2, -3, 4 };
void *anything = &first;
static int hidden = 42;
const volatile short restless = -300;
#ifdef __SIZEOF_INT128__
unsigned __int128 enormous = (unsigned __int128)1 << 100;
#endif

#define KEEP(x)	__asm__ volatile("" : : "g"(x) : "memory")

int work(struct node *r, int n, unsigned int u, long l, const char *s, short h,
	 unsigned char uc, unsigned long ul)
{
	int local[5] = { n, n + 1, n + 2, n + 3, n + 4 };
	struct node **pp = &r;
	static int calls = 17;
	int sum = n + h, *null = NULL;
	enum color mood = BLUE;
	_Bool yes = n == 2;
	float single = 0.5f;
	short gone;

	calls += n - n;
	__asm__("" : "=r"(gone));	/* nothing needs it */
	__asm__ volatile(".globl at_work\nat_work: nop"
			 : : "r"(local), "r"(pp) : "memory");
	KEEP(local);
	KEEP(pp);
	KEEP(r);
	KEEP(n);
	KEEP(u);
	KEEP(l);
	KEEP(s);
	KEEP(h);
	KEEP(uc);
	KEEP(ul);
	KEEP(sum);
	KEEP(null);
	KEEP(mood);
	KEEP(yes);
	KEEP(single);
	return local[2] + r->len + hidden + calls + sum + (int)u;
}

int (*volatile called)(struct node *, int, unsigned int, long, const char *,
		       short, unsigned char, unsigned long) = work;

int main(void)
{
	first.opaque = opaque_make();
	return called(&first, 2, 4000000000u, -77, "hello world", -9, 200, huge);
}

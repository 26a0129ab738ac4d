// SPDX-License-Identifier: GPL-2.0
/* What the tracepoints of test_data_records.c read. */
struct rec {
	short len;
	char name[6];
	struct rec *next;
	unsigned int age;
};

struct rec last = { 6, "last", 0, 0x77 };
struct rec first = { 8, "first", &last, 0x33 };
struct rec *rec_ptr = &first;
struct rec **rec_ptr_ptr = &rec_ptr;
char text[] = "some text";
char *string = text;
unsigned char small = 3;
unsigned int count = 5;
unsigned long long wide = 4;
unsigned char bytes[8] = { 4, 0, 9, 9, 9, 9, 9, 9 };
static int hidden = 0x01020304;

/* A far pointer: offset, selector */
unsigned short far_ptr[2] = { 0x20, 0x4f };
unsigned short (*far_ptr_ptr)[2] = &far_ptr;

struct pair {
	struct rec *rec;
	unsigned long n;
};

__attribute__((noinline))
unsigned long look(struct rec *rec, int n, char *s, unsigned char c)
{
	return rec->age + n + s[0] + c + hidden;
}

__attribute__((noinline))
unsigned long look_pair(struct pair pair)
{
	return pair.rec->age + pair.n;
}

/* Without a caller, compilers change what is passed. */
unsigned long (*const calls[])(struct pair) = { look_pair };

void change(void)
{
	hidden++;
	small++;
	rec_ptr++;
}

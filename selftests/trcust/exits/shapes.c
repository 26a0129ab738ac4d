// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that are left in many ways. main() calls each and prints a line
 * "NAME VALUE" for every call that came back: its EAX, "-" for a function
 * without a value. Only what leaves by longjmp() is not printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define SHAPE __attribute__((noinline))
#else
#define SHAPE __attribute__((noipa))
#endif
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* has an effect: the call isn't optimised away */
#define KEEP __asm__ volatile("")

volatile int sink;
static jmp_buf back;

SHAPE int work(int a) { return a * 3 + sink; }
SHAPE int other(int a) { sink += a & 1; return a ^ 5; }
SHAPE int third(int a) { return a - sink; }
SHAPE __attribute__((cold)) void complain(int a) { sink -= a; }
SHAPE __attribute__((noreturn)) void leave(int a) { sink = a; longjmp(back, 1); }

SHAPE void empty(void) { KEEP; }
SHAPE int leaf(int a) { KEEP; return a + 1; }
SHAPE int identity(int a) { __asm__ volatile("" : "+r"(a)); return a; }

SHAPE int early(int a)
{
	if (a == 1)
		return 100;
	if (work(a) & 1)
		return work(a + 1);
	if (a > 7)
		return -a;
	return other(a) + work(a);
}

SHAPE int deep(int a, int b, int c)
{
	int n = 0;

	for (int i = 0; i < a; i++) {
		n += work(b) * i;
		if (n > 5000)
			return n - c;
		c ^= other(n + b);
	}
	return n + a + b + c;
}

SHAPE int shrink(int *p)
{
	int n;

	if (!p)
		return -1;
	n = work(*p);
	if (n & 1)
		return other(n) + *p;
	return work(n) - *p;
}

SHAPE int dense(int a)
{
	KEEP;
	switch (a) {
	case 0: return 17;
	case 1: return a + 4;
	case 2: return a * 9;
	case 3: return a ^ 0x55;
	case 4: return -a;
	case 5: return a << 3;
	case 6: return a / 3;
	case 7: return 1000;
	default: return a;
	}
}

SHAPE int dense_framed(int a, int b)
{
	int n = work(b);

	switch (a) {
	case 0: n += other(1); break;
	case 1: return n;
	case 2: n *= work(2); break;
	case 3: n -= other(n); break;
	case 4: sink++; break;
	case 5: return other(n) + b;
	case 6: n = work(work(n)); break;
	case 7: return -1;
	default: n += b;
	}
	return n + work(a);
}

SHAPE int tail(int a)
{
	sink++;
	return other(a);
}

SHAPE int tail_framed(int a)
{
	int n = work(a);

	if (n > 20)
		return other(n + a);
	return n;
}

SHAPE int tail_pointer(int (*f)(int), int a) { return f(a); }

static int (*handlers[])(int) = { work, other, third };
SHAPE int tail_table(int i, int a) { return handlers[i](a + 1); }

SHAPE int tail_switch(int a)
{
	switch (a) {
	case 0: return work(1);
	case 1: return other(a);
	case 2: return third(3);
	case 3: return third(a + sink);
	case 4: return 4;
	case 5: return other(9);
	default: return 0;
	}
}

SHAPE int coldly(int a)
{
	if (UNLIKELY(a < 0)) {
		complain(a);
		return -7;
	}
	if (UNLIKELY(a == 3))
		complain(work(a));
	return work(a) + 2;
}

SHAPE int sum(int n, ...)
{
	va_list args;
	int total = 0;

	va_start(args, n);
	for (int i = 0; i < n; i++)
		total += va_arg(args, int);
	va_end(args);
	return total > 5 ? work(total) : total;
}

SHAPE int dynamic(int n)
{
	char *p = __builtin_alloca(n);

	memset(p, n, n);
	if (n > 40)
		return p[n / 2] + work(n);
	return p[0];
}

SHAPE int big(int a)
{
	char text[4000];

	snprintf(text, sizeof(text), "%d", a);
	if (a & 1)
		return strlen(text);
	return text[0] + work(a);
}

SHAPE int aligned(int a)
{
	int words[16] __attribute__((aligned(64)));

	for (int i = 0; i < 16; i++)
		words[i] = work(a + i);
	return a > 3 ? words[a & 15] : words[0] + 1;
}

SHAPE long long wide(int a) { return a & 1 ? work(a) * 5LL : a - 1LL; }
SHAPE double real(int a) { KEEP; return a > 2 ? work(a) / 4.0 : 1.5; }

struct large { int a[12]; };
SHAPE struct large structure(int a)
{
	struct large l = { { a, work(a) } };

	if (a > 4)
		l.a[3] = other(a);
	return l;
}

SHAPE int jumps(int a)
{
	if (a & 1)
		leave(a);
	return work(a);
}

SHAPE int loop(int a)
{
	KEEP;
	do
		a -= 3;
	while (a > 10);
	return a;
}

/* counts calls by itself: main() sees the outermost ones only */
static int factorials;
SHAPE int factorial(int a)
{
	volatile int n = a;

	factorials++;
	return a < 2 ? 1 : factorial(a - 1) * n + n;
}

SHAPE int threaded(const unsigned char *code)
{
	static void *const labels[] = { &&add, &&twice, &&negate, &&end };
	int a = 1;

	goto *labels[*code];
add:
	a += 7;
	goto *labels[*++code];
twice:
	a *= 2;
	goto *labels[*++code];
negate:
	a = -a;
	goto *labels[*++code];
end:
	return a;
}

SHAPE void nothing(int a)
{
	if (a > 2)
		work(a);
}

static void note(const char *name, int value)
{
	printf("%s %d\n", name, value);
}

#define CALL(f, ...) note(#f, f(__VA_ARGS__))
#define VOID(f, ...) do { f(__VA_ARGS__); puts(#f " -"); } while (0)

static void call_all(int i)
{
	static const unsigned char code[] = { 0, 1, 0, 2, 1, 3 };
	int value = i;

	VOID(empty);
	CALL(leaf, i);
	CALL(identity, i);
	CALL(early, i);
	CALL(deep, i, i + 1, 3);
	CALL(shrink, i & 1 ? &value : NULL);
	CALL(dense, i);
	CALL(dense_framed, i, 4);
	CALL(tail, i);
	CALL(tail_framed, i);
	CALL(tail_pointer, work, i);
	CALL(tail_table, i % 3, i);
	CALL(tail_switch, i);
	CALL(coldly, i & 4 ? -i : i);
	CALL(sum, i % 4, 1, i, 3, 4);
	CALL(dynamic, i * 10 + 1);
	CALL(big, i);
	CALL(aligned, i);
	CALL(wide, i);
	VOID(real, i);
	VOID(structure, i);
	CALL(loop, i * 4);
	CALL(threaded, code + i % 6);
	VOID(nothing, i);
	if (!setjmp(back))
		CALL(jumps, i);
	factorial(i);
}

int main(void)
{
	for (int i = 0; i < 9; i++)
		call_all(i);
	for (int i = 0; i < factorials; i++)
		puts("factorial -");
	return 0;
}

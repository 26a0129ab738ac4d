// SPDX-License-Identifier: GPL-2.0
/* Code of many kinds, for compilers to show what instructions they use: see
 * insn_form.h. Never run. */
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

struct mixed {
	char c;
	unsigned char u;
	short s;
	unsigned short w;
	int i;
	long l;
	float f;
	double d;
	unsigned int low : 5, mid : 11, high : 16;
	void *p;
};

int any_calls(void *p, ...);
extern struct mixed any_mixed[];
extern __thread int any_thread;

#define INTEGERS(name, type)						\
type name##_math(type a, type b, type c, char n)			\
{									\
	type r = (type)(a + b * c - (type)(a ^ c));			\
									\
	if (b)								\
		r = (type)(r + a / b + a % b);				\
	r = (type)(r << (n & 7) | r >> (-n & 7));			\
	return (type)(a < c ? ~r : -r);					\
}									\
type name##_memory(type *a, const type *b, long n)			\
{									\
	type sum = 0;							\
									\
	for (long i = 0; i < n; i++) {					\
		a[i] += b[n - i];					\
		sum = (type)(sum + a[i] * 3);				\
		a[i]++;							\
	}								\
	return sum;							\
}									\
type name##_atomic(type *a, type b)					\
{									\
	type old = __atomic_fetch_add(a, b, __ATOMIC_SEQ_CST);		\
									\
	__atomic_compare_exchange_n(a, &old, b, 0, __ATOMIC_SEQ_CST,	\
				    __ATOMIC_SEQ_CST);			\
	return __atomic_exchange_n(a, (type)(b - 1), __ATOMIC_SEQ_CST);	\
}									\
long name##_wide(type a)						\
{									\
	any_thread += a != 0;						\
	return any_calls(&a, a, (int)a) ? (long)a : any_mixed[a & 3].i;\
}

INTEGERS(char, signed char)
INTEGERS(uchar, unsigned char)
INTEGERS(short, short)
INTEGERS(ushort, unsigned short)
INTEGERS(int, int)
INTEGERS(uint, unsigned int)
INTEGERS(long, long)
INTEGERS(ulong, unsigned long)
INTEGERS(llong, long long)

#define FLOATS(name, type)						\
type name##_math(type a, type b, int n, long l)				\
{									\
	type r = a * b + (type)n - (type)l / b;				\
									\
	return r > a ? r : -a;						\
}									\
long name##_memory(type *a, const type *b, int n)			\
{									\
	type sum = 0;							\
									\
	for (int i = 0; i < n; i++)					\
		sum += a[i] = b[i] * 2;					\
	any_calls(a, (double)sum);					\
	return (long)sum;						\
}

FLOATS(float, float)
FLOATS(double, double)
FLOATS(ldouble, long double)

struct mixed structs(struct mixed a, const struct mixed *b)
{
	a.low = b->high;
	a.mid++;
	a.c = (char)b->s;
	a.w |= b->u;
	a.f = (float)b->d;
	if (b->p)
		memcpy(a.p, b->p, (size_t)b->l);
	memset(&any_mixed[1], 0, sizeof(any_mixed[1]));
	return a;
}

int switches(unsigned int n, const char *text)
{
	static void *const labels[] = { &&one, &&two, &&three };

	switch (n) {
	case 0: return any_calls(0);
	case 1: return -1;
	case 2: return 77;
	case 3: return (int)strlen(text);
	case 4: goto *labels[text[0] & 1];
	case 5: return __builtin_popcount(n) + __builtin_ctz(n | 8);
	}
one:
	any_calls(0, text);
two:
	return __builtin_bswap32(n) == 5;
three:
	return __builtin_add_overflow(n, 5, &n);
}

int varied(int n, ...)
{
	char room[n + 1];
	va_list ap;
	int sum = 0;

	va_start(ap, n);
	while (n--)
		sum += va_arg(ap, int) + (int)va_arg(ap, double);
	va_end(ap);
	any_calls(room);
	return sum;
}

#ifndef INSN_CODE_PART
struct mixed any_mixed[4];
__thread int any_thread;

int any_calls(void *p, ...)
{
	return p != 0;
}

int main(void)
{
	return 0;
}
#endif

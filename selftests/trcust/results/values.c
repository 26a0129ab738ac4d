// SPDX-License-Identifier: GPL-2.0
/* values COUNT: functions return values of C's types, each of which is printed
 * as tracefmt prints it. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define F __attribute__((noinline))
#define END asm volatile("" : : : "memory")

enum color { RED, GREEN = 5, BLUE };
struct two { int a; long b; };
struct small { short s; unsigned char c; };
struct big { long a[4]; };
struct far { int x; struct two *next; };
struct mixed { double d; int i; };
struct floats { float a, b, c; };
union either { unsigned int n; short s; };

static struct two shared = { 7, 8 };

F const char *text(int n) { END; return n % 3 ? "hello" + n % 4 : "a"; }
F enum color color(int n) { END; return n & 1 ? GREEN : BLUE; }
F bool yes(int n) { END; return n % 3 == 1; }
F short number(int n) { END; return -n * 100; }
F unsigned int whole(int n) { END; return 4000000000u + n; }
F long long wide(int n) { END; return n * -1234567890123LL; }
F struct two two(int n) { END; return (struct two){ n, -n * 5L }; }
F struct small small(int n)
{
	END;
	return (struct small){ n, 'a' + n % 26 };
}
F struct big big(int n) { END; return (struct big){ { n, 2, -3, n * 4 } }; }
F union either either(int n) { END; return (union either){ 100u + n }; }
F struct far far(int n) { END; return (struct far){ n, &shared }; }
F struct two *pointer(int n) { END; return n % 5 ? &shared : NULL; }
F double real(int n) { END; return n * 0.5; }
F float single(int n) { END; return n * 0.25f; }
F struct mixed mixed(int n) { END; return (struct mixed){ n * 0.5, n }; }
F struct floats floats(int n)
{
	END;
	return (struct floats){ n * 0.5f, 2.5f, -n };
}

/* The name of a pointer as tracefmt has it. */
static void print_pointer(const void *p)
{
	printf(p ? "0x%lX" : "0x0", (unsigned long)p);
}

static void print(int n)
{
	static const char *const colors[] = { "RED", "", "", "", "", "GREEN",
					      "BLUE" };
	struct two t;
	struct small s;
	struct big b;
	struct mixed m;
	struct floats f;
	union either u;
	struct far r;

	printf("returns %s\n", text(n));
	printf("returns %s\n", colors[color(n)]);
	printf("returns %s\n", yes(n) ? "true" : "false");
	printf("returns %d\n", number(n));
	printf("returns %u\n", whole(n));
	printf("returns %lld\n", wide(n));
	t = two(n);
	printf("returns {a = %d, b = %ld}\n", t.a, t.b);
	s = small(n);
	printf("returns {s = %d, c = '%c'}\n", s.s, s.c);
	b = big(n);
	printf("returns {a = {%ld, %ld, %ld, %ld}}\n", b.a[0], b.a[1], b.a[2],
	       b.a[3]);
	u = either(n);
	printf("returns {n = %u, s = %d}\n", u.n, u.s);
	r = far(n);
	printf("returns {x = %d, next = ", r.x);
	print_pointer(&shared);
	printf("}\nreturns ");
	print_pointer(pointer(n));
	putchar('\n');
#ifndef __i386__	/* there a register of the x87 has them */
	printf("returns %g\n", real(n));
	printf("returns %g\n", single(n));
#endif
	m = mixed(n);
	printf("returns {d = %g, i = %d}\n", m.d, m.i);
	f = floats(n);
	printf("returns {a = %g, b = %g, c = %g}\n", f.a, f.b, f.c);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;

	for (int n = 0; n < count; n++)
		print(n);
	return 0;
}

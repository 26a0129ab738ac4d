// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace: target COUNT [STATUS]. Calls work() COUNT times and
 * exits with STATUS. many_0 to many_4999 are there to be probed, all alike.
 */
#include <stdlib.h>

struct inner {
	int value;
	char name[16];
};

struct outer {
	long tag;
	struct inner *inner;
};

int work(int n, struct outer *outer, const char *text);
void many_0(void);

/* One that is cheap to probe, and then one that isn't */
#ifdef __x86_64__
#define MANY	"push %rbp\n pop %rbp\n"
#else
#define MANY	"adr x9, .\n mov x10, x9\n"
#endif
__asm__(".altmacro\n"
	".macro many n\n"
	".globl many_\\n\n.type many_\\n,%function\n"
	"many_\\n: " MANY " ret\n.size many_\\n,.-many_\\n\n"
	".endm\n"
	".text\n.set i,0\n"
	".rept 5000\n many %i\n .set i,i+1\n.endr\n");

__attribute__((noinline)) int work(int n, struct outer *outer, const char *text)
{
	__asm__ volatile("" ::: "memory");
	return n + outer->inner->value + text[0];
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1, sum = 0;
	struct inner inner = { 42, "inner name" };
	struct outer outer = { 7, &inner };

	for (int i = 0; i < count; i++) {
		sum += work(i, &outer, "some text");
		many_0();
	}
	return argc > 2 ? atoi(argv[2]) : sum < 0;
}

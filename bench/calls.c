// SPDX-License-Identifier: GPL-2.0
/*
 * The program of scripts/bench_decode: calls calls_hit() as often as it is
 * told, with what the benchmark record is made of.
 *
 *	calls COUNT
 */
#include <stdint.h>
#include <stdlib.h>

struct inner {
	uint64_t first, second;
};

struct middle {
	uint64_t number;
	struct inner *inner;
};

struct outer {
	uint64_t number;
	struct middle *middle;
};

void calls_hit(struct outer *outer, const char *text, uint64_t number);

/* The cheapest instruction for a probe, on either processor */
__asm__(".text\n"
	".globl	calls_hit\n"
	".type	calls_hit, %function\n"
	"calls_hit:\n"
#ifdef __x86_64__
	"	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#else
	"	nop\n"
#endif
	"	ret\n"
	".size	calls_hit, . - calls_hit\n");

int main(int argc, char **argv)
{
	struct inner inner = { 1, 2 };
	struct middle middle = { 3, &inner };
	struct outer outer = { 4, &middle };
	long count = argc > 1 ? atol(argv[1]) : 1;

	for (long i = 0; i < count; i++)
		calls_hit(&outer, "thirteen char", i);
	return 0;
}

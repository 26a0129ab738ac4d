// SPDX-License-Identifier: GPL-2.0
/*
 * The program of scripts/bench_decode: calls calls_hit() as often as it is
 * reported, with what the benchmark record is made of.
 *
 *	calls COUNT
 */
#include <stdlib.h>
#include "given.h"

void calls_hit(const struct outer *outer, const char *text, uint64_t number);

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
	struct given given;
	const struct outer *outer = given_make(&given);
	long count = argc > 1 ? atol(argv[1]) : 1;

	for (long i = 0; i < count; i++)
		calls_hit(outer, GIVEN_TEXT, i);
	return 0;
}

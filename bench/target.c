// SPDX-License-Identifier: GPL-2.0
/*
 * The program of scripts/bench_site: what compilers begin functions with, of
 * which the second instruction is a cheap one; and of scripts/bench: a static
 * tracepoint.
 *
 *	target SITE CALLS	prints nanoseconds per call
 *	target SITE		prints the site's file offset, in hex
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rastrace.h>
#include "given.h"
#include "offset.h"

typedef void site(const struct outer *outer, const char *text,
		  uint64_t number);

site bench_second;

/* What a static tracepoint costs, and the call of it */
#define STATIC_MAJOR	0xbe

static __attribute__((noipa)) void nothing(unsigned int major,
					   unsigned int minor,
					   const void *data, size_t length)
{
}

static void bench_static(const struct outer *outer, const char *text,
			 uint64_t number)
{
	rastrace_write(STATIC_MAJOR, 1, text, 14);
}

static void bench_nothing(const struct outer *outer, const char *text,
			  uint64_t number)
{
	nothing(STATIC_MAJOR, 1, text, 14);
}

__asm__(".text\n"
	"	.p2align 6\n"
	"	.globl	bench_second\n"
	"	.type	bench_second, @function\n"
	"bench_second:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	push	%rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	lea	1(%rdx),%rax\n"
	"	pop	%rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	bench_second, . - bench_second\n");

static const struct {
	const char *name;
	site *call;
} sites[] = {
	{ "second", bench_second },
	{ "static", bench_static },
	{ "nothing", bench_nothing },
};

static double run(site *call, unsigned long calls)
{
	struct given given;
	const struct outer *outer = given_make(&given);
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned long i = 0; i < calls; i++)
		call(outer, GIVEN_TEXT, i);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((end.tv_sec - begin.tv_sec) * 1e9 +
		(end.tv_nsec - begin.tv_nsec)) / calls;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++) {
		if (argc < 2 || strcmp(argv[1], sites[i].name))
			continue;
		if (argc < 3)
			return offset_print(sites[i].call);
		run(sites[i].call, 1000);
		printf("%.1f\n", run(sites[i].call,
				     strtoul(argv[2], NULL, 10)));
		return 0;
	}
	fputs("usage: target second|static|nothing [CALLS]\n",
	      stderr);
	return 2;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The program that scripts/bench probes. Its sites are written by hand, so
 * that the first instruction of each, which decides what a probe costs, is
 * known: a nop of 5 bytes, an emulated push, a single-stepped mov; what
 * compilers begin functions with, of which the second one is cheap; and a static
 * tracepoint.
 *
 *	target SITE CALLS	prints nanoseconds per call
 *	target SITE		prints the site's file offset, in hex
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rastrace.h>

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

typedef void site(struct outer *outer, const char *text, uint64_t number);

site bench_nop5, bench_push, bench_step, bench_second;

/* What a static tracepoint costs, and the call of it */
#define STATIC_MAJOR	0xbe

static __attribute__((noipa)) void nothing(unsigned int major,
					   unsigned int minor,
					   const void *data, size_t length)
{
}

static void bench_static(struct outer *outer, const char *text, uint64_t number)
{
	rastrace_write(STATIC_MAJOR, 1, text, 14);
}

static void bench_nothing(struct outer *outer, const char *text,
			  uint64_t number)
{
	nothing(STATIC_MAJOR, 1, text, 14);
}

__asm__(".text\n"
	".altmacro\n"
	".macro site name, first, second\n"
	"	.p2align 6\n"
	"	.globl	\\name\n"
	"	.type	\\name, @function\n"
	"\\name:\n"
	"	\\first\n"
	"	\\second\n"
	"	ret\n"
	"	.size	\\name, . - \\name\n"
	".endm\n"
	".noaltmacro\n"
	"site bench_nop5, \".byte 0x0f, 0x1f, 0x44, 0, 0\", \"nop\"\n"
	"site bench_push, \"push %rbp\", \"pop %rbp\"\n"
	"site bench_step, \"mov %rdi,%rax\", \"nop\"\n"
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
	{ "nop5", bench_nop5 },
	{ "push", bench_push },
	{ "step", bench_step },
	{ "second", bench_second },
	{ "static", bench_static },
	{ "nothing", bench_nothing },
};

static int print_offset(const void *address)
{
	uintptr_t start, end, offset, at = (uintptr_t)address;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    at >= start && at < end) {
			printf("%#lx\n", at - start + offset);
			fclose(maps);
			return 0;
		}
	}
	return 1;
}

static double run(site *call, unsigned long calls)
{
	struct inner inner = { 1, 2 };
	struct middle middle = { 3, &inner };
	struct outer outer = { 4, &middle };
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned long i = 0; i < calls; i++)
		call(&outer, "thirteen char", i);
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
			return print_offset(sites[i].call);
		run(sites[i].call, 1000);
		printf("%.1f\n", run(sites[i].call,
				     strtoul(argv[2], NULL, 10)));
		return 0;
	}
	fputs("usage: target nop5|push|step|second|static|nothing [CALLS]\n",
	      stderr);
	return 2;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Random straight-line code of x86. */
#ifndef TRCUST_MOVE_CODE_H
#define TRCUST_MOVE_CODE_H

#include <elf.h>
#include <stdio.h>
#include "random.h"
#include "arch_x86.h"
#include "move_stmt.h"

static const char *const registers[][4] = {	/* by DWARF number, 64 bits */
	{ "rax", "eax", "ax", "al" }, { "rdx", "edx", "dx", "dl" },
	{ "rcx", "ecx", "cx", "cl" }, { "rbx", "ebx", "bx", "bl" },
	{ "rsi", "esi", "si", "sil" }, { "rdi", "edi", "di", "dil" },
	{ "rbp", "ebp", "bp", "bpl" }, { "rsp", "esp", "sp", "spl" },
	{ "r8", "r8d", "r8w", "r8b" }, { "r12", "r12d", "r12w", "r12b" },
};

/*
 * A, D, H, B: a register of 8 (here, and below, 4 in 32 bits), 4, 2, 1 bytes;
 * Z: one, the same each time; S, M: memory of the stack, of any kind; I: a
 * number; w: the suffix of a register's size. Those after '|' aren't known, or
 * not in 32 bits.
 */
static const char *const templates[] = {
	"mov A, A", "mov A, A", "mov D, D", "mov H, H", "mov B, B",
	"movw $I, A", "movl $I, D", "lea M, A", "lea S, A", "add $I, A",
	"sub $I, A", "add $I, D", "sub $I, D", "incw A", "decl D", "xor Z, Z",
	"xor D, D", "and $-16, A", "imul A, A", "neg A", "not D", "shl $3, A",
	"sar $5, D", "push A", "push A", "push A", "pop A", "push $I",
	"pushw S", "popw S", "mov A, S", "mov A, S", "mov D, S", "mov D, S",
	"mov H, S", "mov B, S", "mov S, A", "mov S, A", "mov S, D", "mov A, M",
	"mov M, A", "mov D, M", "mov M, D", "movzwl H, D", "movzbl S, D",
	"movswl S, D", "movsbl M, D", "xchg A, A", "xchg D, D", "xchg A, S",
	"cmove A, A", "cmovne S, D", "sete S", "cmp A, A", "test D, D",
	"movd D, %xmm0", "movups S, %xmm0", "movups %xmm0, S",
	"movsd %xmm0, S", "movss %xmm0, M", "movups %xmm0, M", "addw A, S",
	"addl $I, M", "subw A, M", "subw $32, X", "addw $32, X", "mov X, Y",
	"mov X, A", "leave", "nop", "cltd", "bswap D", "movl $I, S",
	"movw $I, S", "pxor %xmm0, %xmm0", "xadd D, S", "lea (A,A,2), A",
	"movq %xmm0, S", "adc A, A", "cld",
};

static const char *const wide_templates[] = {
	"movslq D, A", "movslq S, A", "mov %fs:16, A", "mov A, %fs:24",
	"movq X, %xmm0", "movq A, %xmm0", "movq %xmm0, A", "endbr64",
	"mov M, %r13", "mov %r13, S", "cltq", "cqto", "movabs $0x123456789, A",
	"pinsrq $1, A, %xmm0",
};

static int random_register(bool wide)
{
	int number = random_below(wide ? 10 : 8);

	return number == 7 ? 5 : number;
}

static void add_memory(FILE *file, bool wide, bool stack)
{
	int kind = stack ? random_below(2) : random_below(6);
	const char *prefix = wide ? "r" : "e";

	if (kind == 0)
		fprintf(file, "%d(%%%ssp)",
			(int)random_below(random_below(4) ? 40 : 100) * 4 - 64,
			prefix);
	else if (kind == 1)
		fprintf(file, "%d(%%%sbp)", (int)random_below(28) * 4 - 80,
			prefix);
	else if (kind == 2)
		fprintf(file, "variable+%d%s", (int)random_below(8) * 4,
			wide ? "(%rip)" : "");
	else
		fprintf(file, "%d(%%%s)", (int)random_below(8) * 4 - 12,
			registers[random_register(wide)][!wide]);
}

static void add_insn(FILE *file, bool wide, const char *text)
{
	int same = random_register(wide);

	for (; *text; text++) {
		const char *letter = strchr("ADHB", *text);
		int size = letter ? letter - "ADHB" : 0;

		if (*text == 'S' || *text == 'M')
			add_memory(file, wide, *text == 'S');
		else if (*text == 'I')
			fprintf(file, "%d", (int)random_below(80) - 40);
		else if (*text == 'Z')
			fprintf(file, "%%%s", registers[same][1]);
		else if (*text == 'X' || *text == 'Y')
			fprintf(file, "%%%s", registers[*text == 'X' ? 7 : 6]
							[!wide]);
		else if (*text == 'w' && (text[1] == ' '))
			fputc(wide ? 'q' : 'l', file);
		else if (!letter)
			fputc(*text, file);
		else
			fprintf(file, "%%%s", registers
				[size == 3 ? (int)random_below(4) :
					     random_register(wide)]
				[size || wide ? size : 1]);
	}
	fputc('\n', file);
}

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

/* Half of all build a frame first. */
static void code_write(FILE *file, bool wide)
{
	int count = 3 + random_below(12);

	if (random_below(2))
		fputs(wide ? "push %rbp\nmov %rsp, %rbp\n" :
			     "push %ebp\nmov %esp, %ebp\n", file);
	while (count--) {
		int all = COUNT(templates) +
			  (wide ? COUNT(wide_templates) : 0);
		int number = random_below(all);

		add_insn(file, wide, number < (int)COUNT(templates) ?
			 templates[number] :
			 wide_templates[number - COUNT(templates)]);
	}
}

#endif

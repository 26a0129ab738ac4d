/* SPDX-License-Identifier: GPL-2.0 */
/* Random straight-line code, and random expressions of what it has. */
#ifndef TRCUST_MOVE_CODE_H
#define TRCUST_MOVE_CODE_H

#include <elf.h>
#include "random.h"
#include "arch_x86.h"
#include "usr/trcust/rpn/rpn_emit.h"

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
 * number; w: the suffix of a register's size. Those behind '|' aren't known, or
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

static unsigned int stack_number(bool wide)
{
	return x86_of(wide ? ELFCLASS64 : ELFCLASS32)->stack;
}

static unsigned int random_number(bool wide)
{
	return random_below(wide ? 14 : 8);
}

static void add_choice(struct bytes *rpn, bool wide, uint64_t variable,
		       int nesting);

/* The same in several steps. */
static void add_steps(struct bytes *rpn)
{
	unsigned int distance = random_below(8) * 4;

	switch (random_below(5)) {
	case 0:
		rpn_emit_const(rpn, distance);
		rpn_emit_op(rpn, random_below(3) ? RPN_plus : RPN_minus);
		break;
	case 1:
		rpn_emit_const(rpn, distance);
		rpn_emit_op(rpn, RPN_swap);
		rpn_emit_op(rpn, RPN_plus);
		break;
	case 2:
		rpn_emit_const(rpn, distance);
		rpn_emit_op(rpn, RPN_over);
		rpn_emit_op(rpn, RPN_plus);
		rpn_emit_op(rpn, RPN_swap);
		rpn_emit_op(rpn, RPN_drop);
		break;
	case 3:
		rpn_emit_op(rpn, RPN_dup);
		rpn_emit_const(rpn, 3);
		rpn_emit_op(rpn, RPN_and);
		rpn_emit_op(rpn, RPN_plus);
		break;
	default:
		rpn_emit_add(rpn, distance, true);
	}
}

/* An address that something lies at, mostly. */
static void add_address(struct bytes *rpn, bool wide, uint64_t variable,
			int nesting)
{
	unsigned int frame = x86_of(wide ? ELFCLASS64 : ELFCLASS32)->frame;
	int64_t slot = (int)random_below(44) * 4 - 80;
	int64_t far = (int)random_below(80) * 4;

	switch (random_below(nesting ? 11 : 7)) {
	case 0:
	case 1:
		rpn_emit_register(rpn, stack_number(wide),
				  random_below(4) ? slot + 16 : far);
		break;
	case 2:
	case 3:
		rpn_emit_register(rpn, frame, slot);
		break;
	case 4:
		rpn_emit_addr(rpn, variable + random_below(8) * 4);
		break;
	case 5:
		if (wide && random_below(4) == 0) {
			rpn_emit_register(rpn, 58, random_below(8) * 4);
			break;
		}
		/* fall through */
	case 6:
		rpn_emit_register(rpn, random_number(wide),
				  (int)random_below(8) * 4 - 12);
		break;
	case 7:
		add_address(rpn, wide, variable, nesting - 1);
		add_steps(rpn);
		break;
	case 8:
		add_choice(rpn, wide, variable, nesting - 1);
		break;
	default:
		add_address(rpn, wide, variable, nesting - 1);
		rpn_emit_deref(rpn, wide ? 8 : 4);
		rpn_emit_add(rpn, random_below(6) * 4, wide);
	}
}

/* One address or the other. */
static void add_choice(struct bytes *rpn, bool wide, uint64_t variable,
		       int nesting)
{
	size_t other, end;

	rpn_emit_register(rpn, random_number(wide), 0);
	rpn_emit_op(rpn, RPN_lit + 4);
	rpn_emit_op(rpn, RPN_and);
	rpn_emit_op(rpn, RPN_bra);
	other = rpn->size;
	rpn_emit_fixed(rpn, 0, 2);
	add_address(rpn, wide, variable, nesting);
	rpn_emit_op(rpn, RPN_skip);
	end = rpn->size;
	rpn_emit_fixed(rpn, 0, 2);
	rpn->data[other] = rpn->size - other - 2;
	add_address(rpn, wide, variable, nesting);
	rpn->data[end] = rpn->size - end - 2;
}

/* Two values in memory, in one order or the other. */
static void add_two(struct bytes *rpn, bool wide, uint64_t variable)
{
	add_address(rpn, wide, variable, 1);
	add_address(rpn, wide, variable, 0);
	if (random_below(2))
		rpn_emit_op(rpn, RPN_swap);
	rpn_emit_deref(rpn, 1 << random_below(4));
	if (random_below(2))
		rpn_emit_op(rpn, RPN_swap);
	rpn_emit_deref(rpn, 1 << random_below(4));
	if (!random_below(3)) {
		rpn_emit_op(rpn, RPN_dup);
		rpn_emit_op(rpn, RPN_rot);
		rpn_emit_op(rpn, RPN_xor);
	}
	rpn_emit_op(rpn, RPN_minus);
}

static void add_value(struct bytes *rpn, bool wide, uint64_t variable,
		      int nesting)
{
	static const uint8_t binary[] = {
		RPN_plus, RPN_minus, RPN_mul, RPN_and, RPN_or, RPN_xor, RPN_gt,
		RPN_shl, RPN_shra, RPN_eq,
	};

	switch (random_below(nesting ? 9 : 4)) {
	case 0:
	case 1:
		rpn_emit_register(rpn, random_number(wide),
				  random_below(3) ? 0 : random_below(99));
		break;
	case 8:
		add_two(rpn, wide, variable);
		break;
	case 2:
		add_address(rpn, wide, variable, 2);
		rpn_emit_deref(rpn, 1 << random_below(4));
		break;
	case 3:
		rpn_emit_const(rpn, (int)random_below(100) - 30);
		break;
	case 4:
		add_value(rpn, wide, variable, nesting - 1);
		rpn_emit_extend(rpn, 1 << random_below(3), random_below(2));
		break;
	case 5:
		add_value(rpn, wide, variable, 0);
		rpn_emit_op(rpn, random_below(2) ? RPN_dup : RPN_lit + 3);
		rpn_emit_op(rpn, RPN_swap);
		rpn_emit_op(rpn, binary[random_below(sizeof(binary))]);
		break;
	case 6:
		add_value(rpn, wide, variable, nesting - 1);
		add_value(rpn, wide, variable, nesting - 1);
		rpn_emit_op(rpn, binary[random_below(sizeof(binary))]);
		break;
	default: {
		size_t at;

		add_value(rpn, wide, variable, nesting - 1);
		rpn_emit_op(rpn, RPN_bra);
		rpn_emit_fixed(rpn, 4, 2);
		rpn_emit_op(rpn, RPN_lit + 9);
		rpn_emit_op(rpn, RPN_skip);
		at = rpn->size;
		rpn_emit_fixed(rpn, 0, 2);
		add_value(rpn, wide, variable, nesting - 1);
		if (rpn->failed)
			return;
		rpn->data[at] = rpn->size - at - 2;
		rpn->data[at + 1] = (rpn->size - at - 2) >> 8;
	}
	}
}

/* What a tracepoint may log, its expressions behind rpn. */
static struct tdf_stmt stmt_random(struct bytes *rpn, bool wide,
				   uint64_t variable)
{
	uint8_t elf_class = wide ? ELFCLASS64 : ELFCLASS32;
	struct tdf_stmt stmt = { .rpn = rpn->size };

	switch (random_below(10)) {
	case 0:
	case 1:
		stmt.kind = TDF_STMT_REG;
		stmt.reg_bytes = 2 << random_below(wide ? 3 : 2);
		stmt.reg = random_number(wide);
		if (!random_below(12))
			stmt.reg = random_below(2) ? x86_of(elf_class)->ip
						   : x86_of(elf_class)->flags;
		return stmt;
	case 2:
	case 3:
	case 4:
		stmt.kind = TDF_STMT_VALUE;
		stmt.length = 1 + random_below(8);
		add_value(rpn, wide, variable, 3);
		break;
	case 5:
		stmt.kind = TDF_STMT_IF;
		add_value(rpn, wide, variable, 3);
		break;
	case 6:
		stmt.kind = TDF_STMT_ASCIIZ;
		stmt.length = 1 + random_below(16);
		add_address(rpn, wide, variable, 2);
		break;
	case 7:
		stmt.kind = TDF_STMT_MEM;
		stmt.flags = TDF_STMT_LEN;
		stmt.length = 24;
		stmt.len_bytes = 1 << random_below(3);
		add_address(rpn, wide, variable, 1);
		stmt.rpn_length = rpn->size - stmt.rpn;
		stmt.len_rpn = rpn->size;
		add_address(rpn, wide, variable, 1);
		stmt.len_rpn_length = rpn->size - stmt.len_rpn;
		return stmt;
	default:
		stmt.kind = TDF_STMT_MEM;
		stmt.length = 1 + random_below(24);
		if (random_below(5))
			stmt.length = 1 << random_below(4);
		add_address(rpn, wide, variable, 2);
	}
	stmt.rpn_length = rpn->size - stmt.rpn;
	return stmt;
}

#endif

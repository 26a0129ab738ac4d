// SPDX-License-Identifier: GPL-2.0
/*
 * x86, 64 and 32 bits: its registers, operands (in notes of static probes)
 * and instructions as the GNU assembler has them, and the relocations of
 * object files (psABI of x86-64, of i386).
 */
#include "arch.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "arch_x86_effect.h"
#include "arch_x86_insn.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define NAME_SIZE	8
#define TEXT_SIZE	256

/* A register, or a part of one: "r8d", "r8w", "r8b", "al" and "ah" of "ax",
 * "sil" of "si". */
static bool register_parse(const struct arch *arch, const char *text,
			   size_t length, struct arch_operand *operand,
			   int *number)
{
	char name[NAME_SIZE], part;
	const struct arch_register *reg;

	if (length < 2 || *text != '%' || length > NAME_SIZE)
		return false;
	memcpy(name, text + 1, --length);
	name[length] = 0;
	operand->shift = 0;
	reg = arch_register_find(arch, name);
	operand->bytes = reg ? reg->bytes : 1;
	if (!reg) {
		part = tolower(name[length - 1]);
		name[length - 1] = 0;
		if (length >= 3 && tolower(name[0]) == 'r' &&
		    isdigit(name[1]) && strchr("dwb", part)) {
			operand->bytes = part == 'd' ? 4 : part == 'w' ? 2 : 1;
			reg = arch_register_find(arch, name);
			if (reg && reg->bytes != 8)
				reg = NULL;
		} else if ((part == 'l' || part == 'h') && length == 2 &&
			   strchr("abcd", tolower(name[0]))) {
			operand->shift = part == 'h' ? 8 : 0;
			strcpy(name + 1, "x");
			reg = arch_register_find(arch, name);
		} else if (part == 'l' && length == 3) {
			reg = arch_register_find(arch, name);
		}
	}
	if (!reg || reg->pt_regs < 0)
		return false;
	*number = reg->dwarf;
	return *number >= 0;
}

static bool x86_number_parse(const char **p, int64_t *number)
{
	char *end;

	*number = strtoull(*p, &end, 0);
	if (end == *p)
		return false;
	*p = end;
	return true;
}

/* Sum of numbers and at most one symbol: "-20", "sym+4", "4+sym" */
static bool displacement_parse(const char *p, const char *end,
			       struct arch_operand *operand)
{
	while (p < end) {
		bool minus = *p == '-';
		int64_t number;

		p += *p == '-' || *p == '+';
		if (isdigit(*p)) {
			if (!x86_number_parse(&p, &number))
				return false;
			operand->number += minus ? -number : number;
		} else {
			if (minus || operand->symbol)
				return false;
			operand->symbol = p;
			while (p < end && *p != '+' && *p != '-')
				p++;
			operand->symbol_length = p - operand->symbol;
			if (!operand->symbol_length)
				return false;
		}
		if (p < end && *p != '+' && *p != '-')
			return false;
	}
	return p == end;
}

/* Between the parentheses: "base", "base,index,scale", ",index,scale" */
static bool x86_parts_parse(const struct arch *arch, const char *p,
			    const char *end, struct arch_operand *operand)
{
	struct arch_operand unused;
	const char *comma = memchr(p, ',', end - p);
	size_t length = (comma ? comma : end) - p;

	/* the symbol's address is the operand's */
	if (length == 4 && (!strncasecmp(p, "%rip", 4) ||
			    !strncasecmp(p, "%eip", 4)))
		return !comma && operand->symbol;
	if (length && !register_parse(arch, p, length, &unused, &operand->base))
		return false;
	if (!comma)
		return length;
	p = comma + 1;
	comma = memchr(p, ',', end - p);
	if (!register_parse(arch, p, (comma ? comma : end) - p, &unused,
			    &operand->index))
		return false;
	if (!comma)
		return true;
	operand->scale = comma[1] - '0';
	return comma + 2 == end && (operand->scale == 1 ||
				    operand->scale == 2 ||
				    operand->scale == 4 || operand->scale == 8);
}

static bool x86_operand_parse(const struct arch *arch, const char *text,
			      size_t length, struct arch_operand *operand)
{
	const char *p, *end = text + length;
	bool minus;

	*operand = (struct arch_operand){
		.kind = ARCH_REGISTER, .base = -1, .index = -1, .scale = 1,
	};
	if (!length || length > TEXT_SIZE)
		return false;
	if (*text == '%' && !memchr(text, ':', length))
		return register_parse(arch, text, length, operand,
				      &operand->base);
	if (*text != '$') {
		const char *open = memchr(text, '(', length);

		operand->kind = ARCH_MEMORY;
		if (*text == '%')
			return false;
		if (!open)
			return displacement_parse(text, end, operand);
		return end[-1] == ')' &&
		       displacement_parse(text, open, operand) &&
		       x86_parts_parse(arch, open + 1, end - 1, operand);
	}
	operand->kind = ARCH_IMMEDIATE;
	p = text + 1;
	minus = p < end && *p == '-';
	p += minus;
	if (p == end || !isdigit(*p) || !x86_number_parse(&p, &operand->number))
		return false;
	if (minus)
		operand->number = -operand->number;
	return p == end;
}

/* Names where the assembler has others than the processor's manual */
static const struct {
	ZydisMnemonic mnemonic;
	const char *name;
} names[] = {
	{ ZYDIS_MNEMONIC_CBW, "cbtw" }, { ZYDIS_MNEMONIC_CWDE, "cwtl" },
	{ ZYDIS_MNEMONIC_CDQE, "cltq" }, { ZYDIS_MNEMONIC_CWD, "cwtd" },
	{ ZYDIS_MNEMONIC_CDQ, "cltd" }, { ZYDIS_MNEMONIC_CQO, "cqto" },
	{ ZYDIS_MNEMONIC_MOVSXD, "movslq" }, { ZYDIS_MNEMONIC_JZ, "je" },
	{ ZYDIS_MNEMONIC_JNZ, "jne" }, { ZYDIS_MNEMONIC_JNB, "jae" },
	{ ZYDIS_MNEMONIC_JNBE, "ja" }, { ZYDIS_MNEMONIC_JNL, "jge" },
	{ ZYDIS_MNEMONIC_JNLE, "jg" }, { ZYDIS_MNEMONIC_SETZ, "sete" },
	{ ZYDIS_MNEMONIC_SETNZ, "setne" }, { ZYDIS_MNEMONIC_SETNB, "setae" },
	{ ZYDIS_MNEMONIC_SETNBE, "seta" }, { ZYDIS_MNEMONIC_SETNL, "setge" },
	{ ZYDIS_MNEMONIC_SETNLE, "setg" }, { ZYDIS_MNEMONIC_CMOVZ, "cmove" },
	{ ZYDIS_MNEMONIC_CMOVNZ, "cmovne" },
	{ ZYDIS_MNEMONIC_CMOVNB, "cmovae" },
	{ ZYDIS_MNEMONIC_CMOVNBE, "cmova" },
	{ ZYDIS_MNEMONIC_CMOVNL, "cmovge" },
	{ ZYDIS_MNEMONIC_CMOVNLE, "cmovg" },
};

static char size_letter(unsigned int bits)
{
	return bits == 8 ? 'b' : bits == 16 ? 'w' : bits == 32 ? 'l' : 'q';
}

/* The assembler's name, where it has another one. */
static bool x86_name_find(const struct x86_insn *insn, char *name, size_t size)
{
	ZydisMnemonic mnemonic = insn->zi.mnemonic;
	const ZydisDecodedOperand *operands = insn->operands;

	/* No register among the operands has the size of the one in memory. */
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOVZX: case ZYDIS_MNEMONIC_MOVSX:
		snprintf(name, size, "mov%c%c%c",
			 mnemonic == ZYDIS_MNEMONIC_MOVZX ? 'z' : 's',
			 size_letter(operands[1].size),
			 size_letter(operands[0].size));
		return true;
	case ZYDIS_MNEMONIC_INC: case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_NEG: case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_MUL: case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_DIV: case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_NOP: case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
		if (insn->zi.operand_count_visible != 1 ||
		    operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY)
			break;
		snprintf(name, size, "%s%c", ZydisMnemonicGetString(mnemonic),
			 size_letter(operands[0].size));
		return true;
	default:
		break;
	}
	for (size_t i = 0; i < COUNT(names); i++)
		if (names[i].mnemonic == mnemonic) {
			snprintf(name, size, "%s", names[i].name);
			return true;
		}
	return false;
}

/* With the assembler's name, and a star before the operand that a jump
 * goes to. False: no room. */
static bool text_adapt(const struct x86_insn *insn, const char *plain,
		       char *text, size_t size)
{
	const char *name = ZydisMnemonicGetString(insn->zi.mnemonic);
	const char *at = strstr(plain, name), *operands;
	const char *star = "";
	char own[16];

	if (!at)
		return (size_t)snprintf(text, size, "%s", plain) < size;
	operands = strchrnul(at, ' ');
	if (!x86_name_find(insn, own, sizeof(own)))
		snprintf(own, sizeof(own), "%.*s", (int)(operands - at), at);
	if (insn->zi.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE &&
	    insn->zi.operand_count_visible == 1 &&
	    insn->operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    !strchr(operands, '*'))
		star = " *";
	return (size_t)snprintf(text, size, "%.*s%s%s%s", (int)(at - plain),
				plain, own, star,
				operands + (*star && *operands)) < size;
}

static int x86_insn_print(const struct arch *arch, const uint8_t *code,
			  size_t size, uint64_t address, char *text,
			  size_t text_size)
{
	static const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} properties[] = {
		{ ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE },
		{ ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE },
		{ ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
		  ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED },
	};
	ZydisFormatter formatter;
	struct x86_insn insn;
	char plain[128];

	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
	for (size_t i = 0; i < COUNT(properties); i++)
		ZydisFormatterSetProperty(&formatter, properties[i].property,
					  properties[i].value);
	if (!x86_decode(arch, code, size, address, &insn))
		return -EINVAL;
	if (insn.zi.meta.category == ZYDIS_CATEGORY_WIDENOP &&
	    insn.zi.operand_count_visible)
		insn.zi.operand_count_visible = 1;
	if (ZYAN_FAILED(ZydisFormatterFormatInstruction(
		    &formatter, &insn.zi, insn.operands,
		    insn.zi.operand_count_visible, plain, sizeof(plain),
		    address, ZYAN_NULL)) ||
	    !text_adapt(&insn, plain, text, text_size))
		return -EINVAL;
	return 0;
}

#define REGISTER(reg, size, number, offset, reg_kind)			\
	{ .name = #reg, .bytes = size, .dwarf = number,			\
	  .pt_regs = offset, .kind = ARCH_##reg_kind },

static const struct arch_register registers64[] = {
#define RAS_REG(reg, size, dw64, dw32, offset, kind)			\
	REGISTER(reg, size, dw64, offset, kind)
#include <rastrace/arch-x86.def>
#undef RAS_REG
};

static const struct arch_register registers32[] = {
#define RAS_REG(reg, size, dw64, dw32, offset, kind)			\
	REGISTER(reg, size, dw32, offset, kind)
#include <rastrace/arch-x86.def>
#undef RAS_REG
};

/* psABI of x86-64 figure 3.36, of i386 table 2.14 */
static const struct arch_bank banks64[] = {
	{ 17, 8, 0, "xmm" }, { 25, 8, 8, "xmm" }, { 33, 8, 0, "st" },
	{ 41, 8, 0, "mm" }, { 67, 16, 16, "xmm" }, { 118, 8, 0, "k" }, { 0 }
};

static const struct arch_bank banks32[] = {
	{ 21, 8, 0, "xmm" }, { 11, 8, 0, "st" }, { 29, 8, 0, "mm" }, { 0 }
};

/* Tables 4.9 and 4.4 */
static const struct arch_object_relocation relocations64[] = {
	{ R_X86_64_NONE, { 0, false } }, { R_X86_64_64, { 8, false } },
	{ R_X86_64_32, { 4, false } }, { R_X86_64_32S, { 4, false } },
	{ R_X86_64_PC32, { 4, true } }, { R_X86_64_PLT32, { 4, true } },
	{ R_X86_64_PC64, { 8, true } },
};

static const struct arch_object_relocation relocations32[] = {
	{ R_386_NONE, { 0, false } }, { R_386_32, { 4, false } },
	{ R_386_PC32, { 4, true } }, { R_386_PLT32, { 4, true } },
};

#define OPERATIONS							\
	.return_thunk = "__x86_return_thunk",				\
	.operand_parse = x86_operand_parse,				\
	.insn_decode = x86_insn_decode,					\
	.insn_print = x86_insn_print,					\
	.effect_find = x86_effect_find,					\
	.computed_find = x86_computed_find,				\
	.address_find = x86_address_find

/* The red zone: psABI of x86-64, 3.2.2. Frames: the same, of i386 2.2.2. The
 * thread pointer is the base of FS, or what GS selects. */
const struct arch arch_x86_64 = {
	.name = "x86-64",
	.others = { "x86_64", "amd64" },
	.machine = EM_X86_64,
	.elf_class = ELFCLASS64,
	.registers = registers64,
	.register_count = COUNT(registers64),
	.ip = 16,
	.flags = 49,
	.stack = 7,
	.frame = 6,
	.thread = 58,
	.slots = { .address = R_X86_64_GLOB_DAT, .distance = R_X86_64_TPOFF64 },
	.results = {0, 1},
	.result = "RAX",
	.link = -1,
	.call_bytes = 8,
	.red_zone = 128,
	.inherits_names = true,
	.cheap_nop = true,
	.rseq_signature = 0x53053053,
	/* psABI, figure 3.4: rbx, rbp, r12 to r15 */
	.kept = 1 << 3 | 1 << 6 | 0xf << 12,
	.banks = banks64,
	.vector_first = 17,
	.vector_count = 16,
	/* rax, rbx, rcx, rdi, rsi, r8 to r11; xmm0 to xmm14; r14 */
	.go = { { 0, 3, 2, 5, 4, 8, 9, 10, 11 }, 9, 17, 15, 14 },
	.relocations = relocations64,
	.relocation_count = COUNT(relocations64),
	OPERATIONS,
};

const struct arch arch_i386 = {
	.name = "i386",
	.machine = EM_386,
	.elf_class = ELFCLASS32,
	.registers = registers32,
	.register_count = COUNT(registers32),
	.ip = 8,
	.flags = 9,
	.stack = 4,
	.frame = 5,
	.thread = 45,
	.thread_is_selector = true,
	.slots = { .address = R_386_GLOB_DAT, .distance = R_386_TLS_TPOFF,
		   .minus = R_386_TLS_TPOFF32 },
	.results = {0, 2},
	.result = "EAX",
	.link = -1,
	.call_bytes = 4,
	.cheap_nop = true,
	.rseq_signature = 0x53053053,
	/* psABI, table 2.3: ebx, ebp, esi, edi */
	.kept = 1 << 3 | 7 << 5,
	.banks = banks32,
	.relocations = relocations32,
	.relocation_count = COUNT(relocations32),
	OPERATIONS,
};

// SPDX-License-Identifier: GPL-2.0
/* Instructions of x86 as the GNU assembler has them. */
#include "arch_x86.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
	bool open = false;

	if (mnemonic == ZYDIS_MNEMONIC_MOVZX ||
	    mnemonic == ZYDIS_MNEMONIC_MOVSX) {
		snprintf(name, size, "mov%c%c%c",
			 mnemonic == ZYDIS_MNEMONIC_MOVZX ? 'z' : 's',
			 size_letter(insn->operands[1].size),
			 size_letter(insn->operands[0].size));
		return true;
	}

	/* No register among the operands has the size of the one in memory. */
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_INC: case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_NEG: case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_MUL: case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_DIV: case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_NOP: case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
		open = insn->zi.operand_count_visible == 1 &&
		       insn->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
		break;
	default:
		break;
	}
	if (open) {
		snprintf(name, size, "%s%c", ZydisMnemonicGetString(mnemonic),
			 size_letter(insn->operands[0].size));
		return true;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
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

int x86_insn_print(const struct arch *arch, const uint8_t *code, size_t size,
		   uint64_t address, char *text, size_t text_size)
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
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
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

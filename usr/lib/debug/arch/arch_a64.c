// SPDX-License-Identifier: GPL-2.0
/* AArch64: its registers (aadwarf64 4.1, aapcs64 6) and the relocations of
 * object files. */
#include "arch_a64.h"

#include <elf.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct arch_register registers[] = {
#define RAS_REG(reg, size, dw, regs_offset, reg_kind)			\
	{ .name = #reg, .bytes = size, .dwarf = dw,			\
	  .pt_regs = regs_offset, .kind = ARCH_##reg_kind },
#include <rastrace/arch-a64.def>
#undef RAS_REG
};

static bool a64_bank_print(const struct arch *arch, unsigned int number,
			   char *text, size_t size)
{
	if (number < 64 || number > 95)
		return false;
	snprintf(text, size, "v%u", number - 64);
	return true;
}

/* x19 to x29, the stack pointer */
static bool a64_register_is_kept(const struct arch *arch, unsigned int number)
{
	return (number >= 19 && number <= 29) || number == arch->stack;
}

/* aaelf64 5.7.4 to 5.7.8, as far as kernel modules have them
 * (arch/arm64/kernel/module.c) */
#define DATA(name, size, from_here)					\
	{ R_AARCH64_##name, { .bytes = size, .relative = from_here } }
/* the number's bits [low, low + width) at bit `where` of an instruction */
#define FIELD(name, from_here, low, width, where)			\
	{ R_AARCH64_##name, { .bytes = 4, .relative = from_here,	\
			      .first = low, .count = width, .at = where } }
/* of a jump: the distance's bits from 2 on */
#define JUMP(name, width, where)					\
	{ R_AARCH64_##name, { .bytes = 4, .relative = true, .clamps = true, \
			      .first = 2, .count = width, .at = where } }
/* adr, adrp: the lowest two bits have a field of their own (Arm ARM C6.2.12) */
#define ADR(name, round, low)						\
	{ R_AARCH64_##name, { .bytes = 4, .relative = true,		\
			      .pages = round, .first = low, .count = 21,	\
			      .at = 5, .low_at = 29 } }

static const struct {
	uint32_t type;
	struct arch_relocation relocation;
} relocations[] = {
	{ R_AARCH64_NONE, { 0 } },
	{ 256, { 0 } },		/* R_AARCH64_NONE of early tools */
	DATA(ABS64, 8, false),
	DATA(ABS32, 4, false),
	DATA(ABS16, 2, false),
	DATA(PREL64, 8, true),
	DATA(PREL32, 4, true),
	DATA(PREL16, 2, true),
	{ 314, { .bytes = 4, .relative = true } },	/* R_AARCH64_PLT32 */
	FIELD(MOVW_UABS_G0, false, 0, 16, 5),
	FIELD(MOVW_UABS_G0_NC, false, 0, 16, 5),
	FIELD(MOVW_UABS_G1, false, 16, 16, 5),
	FIELD(MOVW_UABS_G1_NC, false, 16, 16, 5),
	FIELD(MOVW_UABS_G2, false, 32, 16, 5),
	FIELD(MOVW_UABS_G2_NC, false, 32, 16, 5),
	FIELD(MOVW_UABS_G3, false, 48, 16, 5),
	FIELD(MOVW_SABS_G0, false, 0, 16, 5),
	FIELD(MOVW_SABS_G1, false, 16, 16, 5),
	FIELD(MOVW_SABS_G2, false, 32, 16, 5),
	FIELD(MOVW_PREL_G0, true, 0, 16, 5),
	FIELD(MOVW_PREL_G0_NC, true, 0, 16, 5),
	FIELD(MOVW_PREL_G1, true, 16, 16, 5),
	FIELD(MOVW_PREL_G1_NC, true, 16, 16, 5),
	FIELD(MOVW_PREL_G2, true, 32, 16, 5),
	FIELD(MOVW_PREL_G2_NC, true, 32, 16, 5),
	FIELD(MOVW_PREL_G3, true, 48, 16, 5),
	FIELD(LD_PREL_LO19, true, 2, 19, 5),
	ADR(ADR_PREL_LO21, false, 0),
	ADR(ADR_PREL_PG_HI21, true, 12),
	ADR(ADR_PREL_PG_HI21_NC, true, 12),
	FIELD(ADD_ABS_LO12_NC, false, 0, 12, 10),
	FIELD(LDST8_ABS_LO12_NC, false, 0, 12, 10),
	FIELD(LDST16_ABS_LO12_NC, false, 1, 11, 10),
	FIELD(LDST32_ABS_LO12_NC, false, 2, 10, 10),
	FIELD(LDST64_ABS_LO12_NC, false, 3, 9, 10),
	FIELD(LDST128_ABS_LO12_NC, false, 4, 8, 10),
	JUMP(TSTBR14, 14, 5),
	JUMP(CONDBR19, 19, 5),
	JUMP(JUMP26, 26, 0),
	JUMP(CALL26, 26, 0),
};

static bool a64_relocation_find(const struct arch *arch, uint32_t type,
				struct arch_relocation *relocation)
{
	for (size_t i = 0; i < COUNT(relocations); i++) {
		if (relocations[i].type != type)
			continue;
		*relocation = relocations[i].relocation;
		return true;
	}
	return false;
}

static const struct arch_operations operations = {
	.bank_print = a64_bank_print,
	.register_is_kept = a64_register_is_kept,
	.operand_parse = a64_operand_parse,
	.relocation_find = a64_relocation_find,
	.insn_decode = a64_insn_decode, .insn_held = a64_insn_held,
	.insn_print = a64_insn_print,
	.effect_find = a64_effect_find, .computed_find = a64_computed_find,
	.address_find = a64_address_find,
};

const struct arch arch_aarch64 = {
	.name = "AArch64", .others = { "arm64" },
	.machine = EM_AARCH64, .elf_class = ELFCLASS64,
	.registers = registers,
	.register_count = COUNT(registers),
	.ip = 32, .flags = 40, .stack = 31, .frame = 29, .thread = 36,
	.thread_header = 16,
	.slots = { .address = R_AARCH64_GLOB_DAT,
		   .distance = R_AARCH64_TLS_TPREL,
		   .descriptor = R_AARCH64_TLSDESC },
	.marks = "xdv",
	/* the fewest bits of an address (CONFIG_ARM64_VA_BITS_36) */
	.signed_from = 36,
	.results = { 0, 1 }, .result = "X0", .link = 30, .insn_bytes = 4,
	.rseq_signature = 0xd428bc00,
	.char_is_unsigned = true,
	.operations = &operations,
};

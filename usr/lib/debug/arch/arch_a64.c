// SPDX-License-Identifier: GPL-2.0
/* AArch64: what registers it has (aadwarf64 4.1, aapcs64 6). */
#include "arch_a64.h"

#include <elf.h>
#include <stdio.h>

static const struct arch_register registers[] = {
#define RAS_REG(reg, size, dw, regs_offset, reg_kind)			\
	{ .name = #reg, .bytes = size, .dwarf = dw,			\
	  .pt_regs = regs_offset, .kind = ARCH_##reg_kind },
#include <rastrace/arch-a64.def>
#undef RAS_REG
};

static bool bank_print(const struct arch *arch, unsigned int number, char *text,
		       size_t size)
{
	if (number < 64 || number > 95)
		return false;
	snprintf(text, size, "v%u", number - 64);
	return true;
}

/* x19 to x29, the stack pointer */
static bool register_is_kept(const struct arch *arch, unsigned int number)
{
	return (number >= 19 && number <= 29) || number == arch->stack;
}

static const struct arch_operations operations = {
	.bank_print = bank_print, .register_is_kept = register_is_kept,
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
	.register_count = sizeof(registers) / sizeof(registers[0]),
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

// SPDX-License-Identifier: GPL-2.0
/* x86, 64 and 32 bits: its registers and the relocations of object files (psABI
 * of x86-64, of i386). */
#include "arch_x86.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

/* psABI of x86-64 figure 3.36, of i386 table 2.14: those not in registers[] */
static const struct {
	uint16_t first64, first32, count;
	uint16_t index;		/* of the first one's name */
	const char *name;
} banks[] = {
	{ 17, 21, 8, 0, "xmm" }, { 25, 0, 8, 8, "xmm" },
	{ 33, 11, 8, 0, "st" }, { 41, 29, 8, 0, "mm" },
	{ 67, 0, 16, 16, "xmm" }, { 118, 0, 8, 0, "k" },
};

static bool x86_bank_print(const struct arch *arch, unsigned int number,
			   char *text, size_t size)
{
	bool wide = x86_is_wide(arch);

	for (size_t i = 0; i < COUNT(banks); i++) {
		unsigned int first = wide ? banks[i].first64 :
					    banks[i].first32;

		if (!first || number - first >= banks[i].count)
			continue;
		snprintf(text, size, "%s%u", banks[i].name,
			 banks[i].index + number - first);
		return true;
	}
	return false;
}

/* psABI of x86-64, figure 3.4: rbx, rbp, r12 to r15; of i386, table 2.3: ebx,
 * ebp, esi, edi. */
static bool x86_register_is_kept(const struct arch *arch, unsigned int number)
{
	if (x86_is_wide(arch))
		return number == 3 || number == 6 ||
		       (number >= 12 && number <= 15);
	return number == 3 || (number >= 5 && number <= 7);
}

/* Tables 4.9 and 4.4 */
static bool x86_relocation_find(const struct arch *arch, uint32_t type,
				struct arch_relocation *relocation)
{
	static const struct {
		uint8_t elf_class, type;
		struct arch_relocation relocation;
	} known[] = {
		{ ELFCLASS64, R_X86_64_NONE, { 0, false } },
		{ ELFCLASS64, R_X86_64_64, { 8, false } },
		{ ELFCLASS64, R_X86_64_32, { 4, false } },
		{ ELFCLASS64, R_X86_64_32S, { 4, false } },
		{ ELFCLASS64, R_X86_64_PC32, { 4, true } },
		{ ELFCLASS64, R_X86_64_PLT32, { 4, true } },
		{ ELFCLASS64, R_X86_64_PC64, { 8, true } },
		{ ELFCLASS32, R_386_NONE, { 0, false } },
		{ ELFCLASS32, R_386_32, { 4, false } },
		{ ELFCLASS32, R_386_PC32, { 4, true } },
		{ ELFCLASS32, R_386_PLT32, { 4, true } },
	};

	for (size_t i = 0; i < COUNT(known); i++) {
		if (known[i].elf_class != arch->elf_class ||
		    known[i].type != type)
			continue;
		*relocation = known[i].relocation;
		return true;
	}
	return false;
}

static const struct arch_operations operations = {
	.bank_print = x86_bank_print,
	.register_is_kept = x86_register_is_kept,
	.operand_parse = x86_operand_parse,
	.relocation_find = x86_relocation_find,
	.insn_decode = x86_insn_decode,
	.insn_print = x86_insn_print,
	.effect_find = x86_effect_find,
	.computed_find = x86_computed_find,
	.address_find = x86_address_find,
	.return_thunk = "__x86_return_thunk",
};

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
	.operations = &operations,
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
	.operations = &operations,
};

// SPDX-License-Identifier: GPL-2.0
#include "arch.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <strings.h>

static const struct arch_register registers[] = {
#define RAS_REG(reg, size, dw64, dw32, regs_offset, reg_kind)		\
	{ .name = #reg, .bytes = size, .dwarf64 = dw64, .dwarf32 = dw32, \
	  .pt_regs = regs_offset, .kind = ARCH_##reg_kind },
#include <rastrace/arch-x86.def>
#undef RAS_REG
};

const struct arch_register *arch_register_find(const char *name)
{
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		if (registers[i].kind != ARCH_BASE &&
		    !strcasecmp(name, registers[i].name))
			return &registers[i];
	return NULL;
}

bool arch_register_is_index(const struct arch_register *reg)
{
	return reg->kind == ARCH_GPR && reg->dwarf64 != 7;
}

/* psABI of x86-64: fs.base; of i386: gs, which selects it. */
unsigned int arch_thread_register(uint8_t elf_class)
{
	return elf_class == ELFCLASS64 ? 58 : 45;
}

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

static bool bank_print(unsigned int number, bool wide, char *text, size_t size)
{
	for (size_t i = 0; i < sizeof(banks) / sizeof(banks[0]); i++) {
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

bool arch_register_print(unsigned int number, uint8_t elf_class, char *text,
			 size_t size)
{
	bool wide = elf_class == ELFCLASS64;

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		const struct arch_register *reg = &registers[i];
		int own = wide ? reg->dwarf64 : reg->dwarf32;

		if (own < 0 || (unsigned int)own != number)
			continue;
		snprintf(text, size, "%s", reg->name);
		for (char *p = text; *p; p++)
			*p = tolower(*p);
		return reg->kind == ARCH_BASE ? wide : reg->pt_regs >= 0;
	}
	if (!bank_print(number, wide, text, size))
		snprintf(text, size, "register %u", number);
	return false;
}

/* psABI of x86-64, figure 3.4: rbx, rbp, r12 to r15; of i386, table 2.3: ebx,
 * ebp, esi, edi. */
bool arch_register_is_kept(unsigned int number, uint8_t elf_class)
{
	if (elf_class == ELFCLASS64)
		return number == 3 || number == 6 ||
		       (number >= 12 && number <= 15);
	return number == 3 || (number >= 5 && number <= 7);
}

unsigned int arch_frame_register(uint8_t elf_class)
{
	return elf_class == ELFCLASS64 ? 6 : 5;
}

const char *arch_result_register(uint8_t elf_class)
{
	return elf_class == ELFCLASS64 ? "RAX" : "EAX";
}

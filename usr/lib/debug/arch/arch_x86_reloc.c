// SPDX-License-Identifier: GPL-2.0
/* Relocations of object files (psABI of x86-64, table 4.9; of i386, 4.4). */
#include "arch_x86.h"

bool x86_relocation_find(const struct arch *arch, uint32_t type,
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

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].elf_class != arch->elf_class ||
		    known[i].type != type)
			continue;
		*relocation = known[i].relocation;
		return true;
	}
	return false;
}

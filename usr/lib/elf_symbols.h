/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The symbols in all tables of one type of an ELF file:
 *
 *	struct elf_symbols at = { .elf = elf, .type = SHT_SYMTAB };
 *
 *	while (elf_symbols_next(&at))
 *		use(at.name, &at.symbol);
 */
#ifndef LIB_ELF_SYMBOLS_H
#define LIB_ELF_SYMBOLS_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_symbols {
	Elf *elf;
	uint32_t type;		/* SHT_SYMTAB, SHT_DYNSYM */
	const char *name;	/* not empty */
	GElf_Sym symbol;
	/* of the table at hand */
	Elf_Scn *section;
	Elf_Data *data;		/* NULL: look for the next table */
	GElf_Shdr header;
	int index;
};

/* The next symbol that is defined and has a name. False: no more. */
bool elf_symbols_next(struct elf_symbols *symbols);

/* The first section of that name, and its header; NULL: none. */
Elf_Scn *elf_section_named(Elf *elf, const char *name, GElf_Shdr *header);

#endif

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
#include <stddef.h>
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

/* The first segment of that type (PT_*); false: none. */
bool elf_header_find(Elf *elf, uint32_t type, GElf_Phdr *segment);
/*
 * The thread-local block of a program, and of no other module, is next to the
 * thread pointer: before it (variant II), or after a header of so many bytes
 * (variant I). *start: its distance from the pointer.
 */
bool elf_program_block(Elf *elf, unsigned int header, uint64_t *start);

/* The USDT probes that an ELF file has, by its notes. */

struct usdt_note {
	uint64_t address;	/* of the probe, as the file is linked now */
	uint64_t semaphore;	/* of its counter; 0: none */
	const char *names;	/* provider, name, arguments: strings, which
				 * may lack their zeros */
	size_t size;		/* of them */
};

/* Call `visit` for each, as long as it returns 0; what it returned. */
int usdt_notes_each(Elf *elf,
		    int (*visit)(const struct usdt_note *note, void *context),
		    void *context);

/* Where in the file the address is, whose segment has these flags (PF_*). */
bool usdt_offset_find(Elf *elf, uint64_t address, uint32_t flags,
		      uint64_t *offset);

#endif

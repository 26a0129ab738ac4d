// SPDX-License-Identifier: GPL-2.0
#include "elf_symbols.h"

#include <stddef.h>
#include <string.h>

bool elf_symbols_next(struct elf_symbols *s)
{
	for (;;) {
		while (s->data && gelf_getsym(s->data, ++s->index, &s->symbol)) {
			if (s->symbol.st_shndx == SHN_UNDEF)
				continue;
			s->name = elf_strptr(s->elf, s->header.sh_link,
					     s->symbol.st_name);
			if (s->name && *s->name)
				return true;
		}
		s->data = NULL;
		s->section = elf_nextscn(s->elf, s->section);
		if (!s->section)
			return false;
		if (gelf_getshdr(s->section, &s->header) &&
		    s->header.sh_type == s->type)
			s->data = elf_getdata(s->section, NULL);
		s->index = 0;
	}
}

Elf_Scn *elf_section_named(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *found = gelf_getshdr(section, header) ?
			elf_strptr(elf, names, header->sh_name) : NULL;

		if (found && !strcmp(found, name))
			return section;
	}
	return NULL;
}

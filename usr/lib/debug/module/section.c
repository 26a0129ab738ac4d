// SPDX-License-Identifier: GPL-2.0
/*
 * Sections that the kernel relocates each for itself: those of its modules, and
 * what has a copy on every processor.
 */
#include "module_elf.h"
#include "section.h"
#include "symbol_find.h"

#include <string.h>
#include <rastrace/tdf.h>

#define PERCPU_SECTION	".data..percpu"	/* of modules; asm-generic/percpu.h */
#define INIT_PREFIX	".init"		/* module_init_section() */
#define NAMES_MAX	1024

/* Of a per-CPU section the kernel has symbols only: it begins with the first
 * variable whose name no other symbol has. So many names are looked at. */
static void section_begin(const struct module *module,
			  struct module_section *section)
{
	const struct module_symbol *first = NULL;
	uint64_t end = section->address + section->size;
	int tries = NAMES_MAX;

	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];
		size_t length = symbol->name_length, j = 0;

		/* not one for a section or a file */
		if (symbol->address < section->address ||
		    symbol->address >= (first ? first->address : end) ||
		    !symbol->defined || symbol->absolute || !length ||
		    symbol->name[length] ||
		    (symbol->type != STT_OBJECT &&
		     symbol->type != STT_NOTYPE) || tries-- <= 0)
			continue;
		for (; j < module->symbol_count; j++)
			if (j != i &&
			    module->symbols[j].name_length == length &&
			    !memcmp(module->symbols[j].name, symbol->name,
				    length))
				break;
		if (j == module->symbol_count)
			first = symbol;
	}
	section->name = first ? first->name : "";
	section->address = first ? first->address : end;
	section->size = end - section->address;
}

bool module_section_find(const struct module *module, uint64_t address,
			 struct module_section *section)
{
	const struct module_symbol *start, *end;
	Elf_Scn *scn = NULL;
	const char *name;
	size_t names;
	GElf_Shdr sh;
	bool others;

	if (!module->elf || module->kind == TDF_MODULE_USER ||
	    elf_getshdrstrndx(module->elf, &names))
		return false;
	if (module->kind == TDF_MODULE_KERNEL) {
		start = module_symbol_find(module, "__per_cpu_start",
					   MODULE_DATA, &others);
		end = module_symbol_find(module, "__per_cpu_end", MODULE_DATA,
					 &others);
		if (!start || !end || address < start->address ||
		    address >= end->address)
			return false;
		*section = (struct module_section) {
			.name = "__per_cpu_start", .address = start->address,
			.size = end->address - start->address, .percpu = true,
		};
		return true;
	}
	while ((scn = elf_nextscn(module->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || address < sh.sh_addr ||
		    address - sh.sh_addr >= sh.sh_size)
			continue;
		name = elf_strptr(module->elf, names, sh.sh_name);
		if (!name || !(sh.sh_flags & SHF_ALLOC))
			continue;
		*section = (struct module_section) {
			.name = name, .address = sh.sh_addr, .size = sh.sh_size,
			.percpu = !strcmp(name, PERCPU_SECTION),
			.init = !strncmp(name, INIT_PREFIX,
					 strlen(INIT_PREFIX)),
		};
		if (section->percpu)
			section_begin(module, section);
		return true;
	}
	return false;
}

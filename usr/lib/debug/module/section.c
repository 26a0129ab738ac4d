// SPDX-License-Identifier: GPL-2.0
/*
 * Sections that the kernel relocates each for itself: those of its modules, and
 * what has a copy on every processor.
 */
#include "module_elf.h"

#include <string.h>
#include <rastrace/tdf.h>

#define PERCPU_SECTION	".data..percpu"	/* of modules; asm-generic/percpu.h */
#define INIT_PREFIX	".init"		/* module_init_section() */
#define NAMES_MAX	1024

static bool name_is_single(const struct module *module,
			   const struct module_symbol *symbol)
{
	size_t length = symbol->name_length;

	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *other = &module->symbols[i];

		if (other != symbol && other->name_length == length &&
		    !memcmp(other->name, symbol->name, length))
			return false;
	}
	return true;
}

/* Not one that stands for a section or a file. */
static bool symbol_is_variable(const struct module_symbol *symbol)
{
	return symbol->defined && !symbol->absolute && symbol->name_length &&
	       !symbol->name[symbol->name_length] &&
	       (symbol->type == STT_OBJECT || symbol->type == STT_NOTYPE);
}

/* Of a per-CPU section the kernel tells symbols only: it begins with one. The
 * names of so many are looked at. */
static void section_begin(const struct module *module,
			  struct module_section *section)
{
	const struct module_symbol *first = NULL;
	uint64_t end = section->address + section->size;
	int tries = NAMES_MAX;

	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];

		if (symbol->address >= section->address &&
		    symbol->address < (first ? first->address : end) &&
		    symbol_is_variable(symbol) && tries-- > 0 &&
		    name_is_single(module, symbol))
			first = symbol;
	}
	section->name = first ? first->name : "";
	section->address = first ? first->address : end;
	section->size = end - section->address;
}

static bool kernel_section_find(const struct module *module, uint64_t address,
				struct module_section *section)
{
	const struct module_symbol *start, *end;
	bool others;

	start = module_symbol_find(module, "__per_cpu_start", MODULE_DATA,
				   &others);
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

static bool section_take(const struct module *module, size_t names,
			 const GElf_Shdr *sh, struct module_section *section)
{
	const char *name = elf_strptr(module->elf, names, sh->sh_name);

	if (!name || !(sh->sh_flags & SHF_ALLOC))
		return false;
	*section = (struct module_section) {
		.name = name, .address = sh->sh_addr, .size = sh->sh_size,
		.percpu = !strcmp(name, PERCPU_SECTION),
		.init = !strncmp(name, INIT_PREFIX, strlen(INIT_PREFIX)),
	};
	return true;
}

bool module_section_find(const struct module *module, uint64_t address,
			 struct module_section *section)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;

	if (!module->elf || module->kind == TDF_MODULE_USER ||
	    elf_getshdrstrndx(module->elf, &names))
		return false;
	if (module->kind == TDF_MODULE_KERNEL)
		return kernel_section_find(module, address, section);
	while ((scn = elf_nextscn(module->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || address < sh.sh_addr ||
		    address - sh.sh_addr >= sh.sh_size ||
		    !section_take(module, names, &sh, section))
			continue;
		if (section->percpu)
			section_begin(module, section);
		return true;
	}
	return false;
}

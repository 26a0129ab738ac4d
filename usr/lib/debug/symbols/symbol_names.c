// SPDX-License-Identifier: GPL-2.0
#include "symbol_library.h"

#if SYMBOL_LIBRARY

#include "symbol_names.h"

#include <stdlib.h>
#include "lib/array.h"

/* ---- reading ---- */

/* Files, sections, offsets of thread-local storage and the marks of code and data
 * in a section (aaelf64, 5.5.4) are no names. */
static bool is_name(const GElf_Sym *symbol, const char *name)
{
	switch (ELF64_ST_TYPE(symbol->st_info)) {
	case STT_SECTION:
	case STT_FILE:
	case STT_TLS:
		return false;
	}
	return name && *name && *name != '$' && symbol->st_shndx != SHN_UNDEF;
}

static uint8_t binding_rank(const GElf_Sym *symbol)
{
	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
		return 3;
	case STB_WEAK:
		return 2;
	case STB_LOCAL:
		return 1;
	}
	return 0;
}

/* Where the section of the symbol ends, `bias` added; 0: it is in none. */
static uint64_t section_end(const struct symbol_library *library,
			    Elf *elf, uint64_t bias, size_t index)
{
	Elf_Scn *section = elf ? library->elf_getscn(elf, index) : NULL;
	GElf_Shdr header;

	return section && library->gelf_getshdr(section, &header) ?
	       header.sh_addr + header.sh_size + bias : 0;
}

static bool name_add(struct symbol_range_names *kind,
		     const struct symbol_name *name)
{
	if (name->end <= name->start)
		return true;
	if (!array_grow(&kind->items, kind->count, &kind->room,
			sizeof(*kind->items)))
		return false;
	kind->items[kind->count++] = *name;
	return true;
}

static int name_compare(const void *a, const void *b)
{
	const struct symbol_name *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->binding != y->binding)
		return x->binding < y->binding ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void kind_sort(struct symbol_range_names *kind)
{
	uint64_t reach = 0;

	if (kind->count)
		qsort(kind->items, kind->count, sizeof(*kind->items),
		      name_compare);
	for (size_t i = 0; i < kind->count; i++) {
		if (kind->items[i].end > reach)
			reach = kind->items[i].end;
		kind->items[i].reach = reach;
	}
}

/* Symbol `index` of `count`; the first global one is `global`. */
static bool symbol_take(struct symbol_names *names,
			const struct symbol_library *library,
			Dwfl_Module *module, int index, int count,
			int global)
{
	enum symbol_kind kind = index < global ? SYMBOL_LOCAL : SYMBOL_GLOBAL;
	struct symbol_name name = { .order = count - index };
	Dwarf_Addr bias = 0;
	GElf_Word section = 0;
	Elf *elf = NULL;
	GElf_Sym symbol;

	name.name = library->dwfl_module_getsym_info(module, index, &symbol,
						     &name.start, &section,
						     &elf, &bias);
	if (!name.name || !is_name(&symbol, name.name))
		return true;
	name.binding = binding_rank(&symbol);
	name.end = name.start + symbol.st_size;
	if (!symbol.st_size) {
		kind += SYMBOL_GLOBAL_LABEL;
		name.order = index;	/* what ends there comes first */
		name.end = section_end(library, elf, bias, section);
	}
	return name_add(&names->kinds[kind], &name);
}

bool symbol_names_read(struct symbol_names *names,
		       const struct symbol_library *library,
		       Dwfl_Module *module)
{
	int count = library->dwfl_module_getsymtab(module);
	int global = library->dwfl_module_getsymtab_first_global(module);
	bool good = true;

	for (int i = 1; i < count && good; i++)
		good = symbol_take(names, library, module, i, count, global);
	for (int i = 0; i < SYMBOL_KINDS; i++)
		kind_sort(&names->kinds[i]);
	return good;
}

void symbol_names_free(struct symbol_names *names)
{
	for (int i = 0; i < SYMBOL_KINDS; i++)
		free(names->kinds[i].items);
	*names = (struct symbol_names){ 0 };
}

/* ---- asking ---- */

/* Of the symbols that contain the address the one that begins last. */
static const struct symbol_name *
name_find(const struct symbol_range_names *kind, uint64_t address)
{
	size_t at = array_count_upto(kind->items, kind->count,
				     sizeof(*kind->items), address);

	for (; at && kind->items[at - 1].reach > address; at--)
		if (kind->items[at - 1].end > address)
			return &kind->items[at - 1];
	return NULL;
}

/* The highest end of the symbols that begin at or before the address. */
static uint64_t reach_find(const struct symbol_range_names *kind,
			   uint64_t address)
{
	size_t at = array_count_upto(kind->items, kind->count,
				     sizeof(*kind->items), address);

	return at ? kind->items[at - 1].reach : 0;
}

/* The label before the address, unless a symbol with a size that begins at or
 * before the address ends after the label. */
static const struct symbol_name *
label_find(const struct symbol_names *names, enum symbol_kind kind,
	   uint64_t address)
{
	const struct symbol_name *label = name_find(&names->kinds[kind],
						    address);

	return label && label->start >=
		reach_find(&names->kinds[SYMBOL_GLOBAL], address) &&
	       label->start >=
		reach_find(&names->kinds[SYMBOL_LOCAL], address) ? label : NULL;
}

const char *symbol_names_find(const struct symbol_names *names,
			      uint64_t address, uint64_t *offset)
{
	const struct symbol_name *found =
		name_find(&names->kinds[SYMBOL_GLOBAL], address);

	if (!found)
		found = name_find(&names->kinds[SYMBOL_LOCAL], address);
	for (int kind = SYMBOL_GLOBAL_LABEL; kind < SYMBOL_KINDS && !found;
	     kind++)
		found = label_find(names, kind, address);
	if (!found)
		return NULL;
	*offset = address - found->start;
	return found->name;
}

#endif

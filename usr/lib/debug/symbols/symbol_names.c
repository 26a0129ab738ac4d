// SPDX-License-Identifier: GPL-2.0
#include "symbol_names.h"

#if SYMBOL_LIBRARY

#include <stdlib.h>
#include "lib/array.h"

static int symbol_range_compare(const void *a, const void *b)
{
	const struct symbol_name *x = a, *y = b;

	return array_order(x->start, y->start) ?:
	       array_order(x->binding, y->binding) ?:
	       array_order(y->end, x->end) ?: array_order(x->order, y->order);
}

/* Symbol `index` of `count`; the first global one is `global`. */
static bool symbol_name_read(struct symbol_names *names,
			     const struct symbol_library *library,
			     Dwfl_Module *module, int index, int count,
			     int global)
{
	static const uint8_t bindings[] = {
		[STB_GLOBAL] = 3, [STB_WEAK] = 2, [STB_LOCAL] = 1,
	};
	enum symbol_kind kind = index < global ? SYMBOL_LOCAL : SYMBOL_GLOBAL;
	struct symbol_name name = { .order = count - index };
	struct symbol_range_names *list;
	Dwarf_Addr bias = 0;
	GElf_Word number = 0;
	Elf *elf = NULL;
	GElf_Sym symbol = { 0 };
	GElf_Shdr header;
	Elf_Scn *section;
	unsigned int type, binding;

	name.name = library->dwfl_module_getsym_info(module, index, &symbol,
						     &name.start, &number,
						     &elf, &bias);
	/* Files, sections, offsets of thread-local storage and the marks of
	 * code and data in a section (aaelf64, 5.5.4) are no names. */
	type = ELF64_ST_TYPE(symbol.st_info);
	if (!name.name || !*name.name || *name.name == '$' ||
	    type == STT_SECTION || type == STT_FILE || type == STT_TLS ||
	    symbol.st_shndx == SHN_UNDEF)
		return true;
	binding = ELF64_ST_BIND(symbol.st_info);
	if (binding < sizeof(bindings))
		name.binding = bindings[binding];
	name.end = name.start + symbol.st_size;
	if (!symbol.st_size) {
		kind += SYMBOL_GLOBAL_LABEL;
		name.order = index;	/* what ends there comes first */
		section = elf ? library->elf_getscn(elf, number) : NULL;
		name.end = section && library->gelf_getshdr(section, &header) ?
			   header.sh_addr + header.sh_size + bias : 0;
	}
	if (name.end <= name.start)
		return true;
	list = &names->kinds[kind];
	if (!array_grow(&list->items, list->count, &list->room,
			sizeof(*list->items)))
		return false;
	list->items[list->count++] = name;
	return true;
}

bool symbol_names_read(struct symbol_names *names,
		       const struct symbol_library *library,
		       Dwfl_Module *module)
{
	int count = library->dwfl_module_getsymtab(module);
	int global = library->dwfl_module_getsymtab_first_global(module);
	bool good = true;

	for (int i = 1; i < count && good; i++)
		good = symbol_name_read(names, library, module, i, count,
					global);
	for (int i = 0; i < SYMBOL_KINDS; i++) {
		struct symbol_range_names *kind = &names->kinds[i];
		uint64_t reach = 0;

		if (kind->count)
			qsort(kind->items, kind->count, sizeof(*kind->items),
			      symbol_range_compare);
		for (size_t k = 0; k < kind->count; k++) {
			if (kind->items[k].end > reach)
				reach = kind->items[k].end;
			kind->items[k].reach = reach;
		}
	}
	return good;
}

void symbol_names_free(struct symbol_names *names)
{
	for (int i = 0; i < SYMBOL_KINDS; i++)
		free(names->kinds[i].items);
	*names = (struct symbol_names){ 0 };
}

const char *symbol_names_find(const struct symbol_names *names,
			      uint64_t address, uint64_t *offset)
{
	const struct symbol_name *found = NULL;
	uint64_t reach = 0;

	for (int i = 0; i < SYMBOL_KINDS && !found; i++) {
		const struct symbol_range_names *kind = &names->kinds[i];
		const struct symbol_name *items = kind->items;
		size_t at = array_count_upto(items, kind->count, sizeof(*items),
					     address);

		/* the highest end of symbols with a size up to there */
		if (i < SYMBOL_GLOBAL_LABEL && at &&
		    items[at - 1].reach > reach)
			reach = items[at - 1].reach;

		/* of those that contain the address the one that begins last */
		for (; at && !found && items[at - 1].reach > address; at--)
			if (items[at - 1].end > address)
				found = &items[at - 1];
		if (found && i >= SYMBOL_GLOBAL_LABEL && found->start < reach)
			found = NULL;	/* one with a size ends after it */
	}
	if (!found)
		return NULL;
	*offset = address - found->start;
	return found->name;
}

#endif

// SPDX-License-Identifier: GPL-2.0
/* The symbols of a module: .symtab and .dynsym, of a debug file too. */
#include "module_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "lib/debug/arch/arch.h"
#include "lib/debug/cfi/cfi.h"
#include "lib/hash.h"
#include "demangle.h"
#include "module_elf.h"

#define VERSYM_HIDDEN		0x8000

struct symbol_table {
	const struct arch *arch;
	Elf *elf;
	Elf_Data *data;
	Elf_Data *versions;	/* of .dynsym, or NULL */
	Elf_Data *names;	/* NULL: none */
	size_t index;		/* of the table's own section */
	uint32_t first;		/* in module->symbols; by number in the table */
	size_t count;
};

static void symbol_fill(const struct symbol_table *table, size_t i,
			struct module_symbol *symbol)
{
	const Elf_Data *names = table->names;
	const char *name, *version;
	GElf_Versym versym;
	size_t left;
	GElf_Sym sym;

	memset(symbol, 0, sizeof(*symbol));
	symbol->name = "";
	if (!gelf_getsym(table->data, i, &sym) || !sym.st_name ||
	    GELF_ST_TYPE(sym.st_info) == STT_SECTION ||
	    !names || sym.st_name >= names->d_size)
		return;

	/* one that is longer than what a TSF can name is none */
	name = (const char *)names->d_buf + sym.st_name;
	left = names->d_size - sym.st_name;
	if (!memchr(name, '\0', left > MODULE_SYMBOL_NAME_MAX ?
					MODULE_SYMBOL_NAME_MAX : left) ||
	    (GELF_ST_BIND(sym.st_info) == STB_LOCAL &&
	     arch_name_is_mark(table->arch, name)))
		return;
	if (GELF_ST_TYPE(sym.st_info) == STT_FILE) {
		symbol->name = name;
		symbol->type = STT_FILE;
		return;
	}
	version = name[0] == '@' ? NULL : strchr(name, '@');
	*symbol = (struct module_symbol) {
		.name = name,
		.name_length = version ? (size_t)(version - name) :
					 strlen(name),
		.address = sym.st_value,
		.size = sym.st_size,
		.type = GELF_ST_TYPE(sym.st_info),
		.bind = GELF_ST_BIND(sym.st_info),
		.defined = sym.st_shndx != SHN_UNDEF,
		.absolute = sym.st_shndx == SHN_ABS,
		.old_version = version ? version[1] != '@' :
			table->versions &&
			gelf_getversym(table->versions, i, &versym) &&
			(versym & VERSYM_HIDDEN),
	};
}

/* Where code of the module finds the addresses of data that another module
 * may define, or replace: a copy relocation moves it into the program. The
 * sections don't overlap: together they are no larger than the file, `left`. */
static void symbol_table_relocate(struct module *module,
				  const struct symbol_table *table,
				  uint64_t left)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(table->elf, scn))) {
		Elf_Data *data;
		GElf_Rela rela;

		if (!gelf_getshdr(scn, &sh) || sh.sh_link != table->index ||
		    (sh.sh_type != SHT_RELA && sh.sh_type != SHT_REL))
			continue;
		if (sh.sh_size > left || !(data = elf_getdata(scn, NULL)))
			continue;
		left -= sh.sh_size;
		for (int i = 0; module_relocation(data, &sh, i, &rela); i++)
			if (GELF_R_TYPE(rela.r_info) ==
				    table->arch->slots.address &&
			    GELF_R_SYM(rela.r_info) < table->count)
				module->symbols[table->first +
						GELF_R_SYM(rela.r_info)].slot =
					rela.r_offset;
	}
}

/* The first of its kind: a file has one. */
static int symbol_table_find(struct module *module, Elf *elf,
			     uint64_t file_size, GElf_Word type)
{
	struct symbol_table table = { .arch = module->arch, .elf = elf };
	struct module_symbol *grown;
	Elf_Scn *scn = NULL;
	uint32_t file = 0;
	GElf_Shdr sh;
	size_t need;

	do {
		scn = elf_nextscn(elf, scn);
		if (!scn)
			return 0;
	} while (!gelf_getshdr(scn, &sh) || sh.sh_type != type);
	module->has_symtab |= type == SHT_SYMTAB;
	table.data = elf_getdata(scn, NULL);
	table.names = elf_getdata(elf_getscn(elf, sh.sh_link), NULL);
	if (table.names && !table.names->d_buf)
		table.names = NULL;
	table.index = elf_ndxscn(scn);
	scn = NULL;
	while (type == SHT_DYNSYM && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_GNU_versym &&
		    sh.sh_link == table.index) {
			table.versions = elf_getdata(scn, NULL);
			break;
		}
	if (table.data && table.data->d_buf)
		table.count = table.data->d_size /
			gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);

	/* One entry per entry of the table, so that relocations find theirs by
	 * number; those without a name aren't entered into the hash table, nor
	 * are files, which the local symbols after them are of. */
	need = module->symbol_count + table.count;
	grown = need < UINT32_MAX ?
		realloc(module->symbols, (need + 1) * sizeof(*grown)) : NULL;
	if (!grown)
		return -ENOMEM;
	module->symbols = grown;
	table.first = module->symbol_count;
	for (size_t i = 0; i < table.count; i++) {
		struct module_symbol *symbol = &grown[table.first + i];

		symbol_fill(&table, i, symbol);
		if (symbol->type == STT_FILE)
			file = table.first + i + 1;
		else if (symbol->bind == STB_LOCAL)
			symbol->file = file;
	}
	module->symbol_count = need;
	if (type == SHT_DYNSYM)
		symbol_table_relocate(module, &table, file_size);
	return 0;
}

int module_load_symbols(struct module *module, Elf *elf, uint64_t file_size)
{
	if (symbol_table_find(module, elf, file_size, SHT_SYMTAB) ||
	    symbol_table_find(module, elf, file_size, SHT_DYNSYM))
		return -ENOMEM;
	demangle_index_free(module->full_names);
	key_map_free(&module->symbol_names);
	for (size_t i = module->symbol_count; i--;) {
		struct module_symbol *symbol = &module->symbols[i];

		if (symbol->name_length &&
		    key_map_add_number(&module->symbol_names,
				       hash_fnv(HASH_FNV_START, symbol->name,
						symbol->name_length), i + 1))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Where functions begin and end: by symbols with a size, and, where those were
 * stripped, by the frame descriptions of .eh_frame.
 */

#define OVERLAP_MAX	64	/* functions that begin inside another */

struct functions_reader {
	struct module *module;
	size_t room;
};

static int function_add(struct functions_reader *reader, uint64_t start,
			uint64_t end)
{
	struct module *module = reader->module;
	size_t available;

	if (end <= start || !module_code(module, start, &available, NULL))
		return 0;
	if (end - start > available)
		end = start + available;
	if (!array_grow(&module->functions, module->function_count,
			&reader->room, sizeof(*module->functions)))
		return -ENOMEM;
	module->functions[module->function_count++] =
		(struct module_range) { start, end };
	return 0;
}

static int frame_take(void *context, const struct cfi_function *function)
{
	return function_add(context, function->begin, function->end);
}

static int function_range_compare(const void *a, const void *b)
{
	const struct module_range *x = a, *y = b;

	return array_order(x->start, y->start) ?: array_order(x->end, y->end);
}

int module_load_functions(struct module *module)
{
	struct functions_reader reader = { .module = module };
	struct cfi_section section;

	free(module->functions);
	module->functions = NULL;
	module->function_count = 0;
	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];

		if (!symbol->defined || symbol->absolute || !symbol->size ||
		    (symbol->type != STT_FUNC &&
		     symbol->type != STT_GNU_IFUNC))
			continue;
		if (function_add(&reader, symbol->address,
				 symbol->address + symbol->size))
			return -ENOMEM;
	}
	if (cfi_section_find(module->elf, &section) &&
	    cfi_each(&section, frame_take, &reader))
		return -ENOMEM;
	if (module->function_count)
		qsort(module->functions, module->function_count,
		      sizeof(*module->functions), function_range_compare);
	return 0;
}

const struct module_range *
module_function_find(const struct module *module, uint64_t address)
{
	size_t next = array_count_upto(module->functions,
					 module->function_count,
					 sizeof(*module->functions), address);

	for (size_t i = next; i && next - i < OVERLAP_MAX; i--)
		if (module->functions[i - 1].end > address)
			return &module->functions[i - 1];
	return NULL;
}

#define AROUND_MAX	64	/* symbols that begin inside another */

static bool symbol_is_function(const struct module_symbol *symbol)
{
	return symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC;
}

/* Functions outside of a kernel module have addresses as well. */
static bool symbol_is_code(const struct module *module,
			   const struct module_symbol *symbol)
{
	size_t available;

	if (!symbol->defined && symbol->name_length &&
	    module->kind == TDF_MODULE_KMOD)
		return true;
	return symbol->defined && !symbol->absolute && symbol->name_length &&
	       (symbol_is_function(symbol) || symbol->type == STT_NOTYPE) &&
	       module_code(module, symbol->address, &available, NULL);
}

static unsigned int symbol_merit(const struct module_symbol *symbol)
{
	return symbol_is_function(symbol) * 8 + !!symbol->size * 4 +
	       (symbol->bind == STB_GLOBAL) * 2 + !symbol->old_version;
}

/* By address; at the same one the best comes last. */
static int symbol_index_compare(const void *a, const void *b)
{
	const struct module_symbol *x = *(const struct module_symbol *const *)a;
	const struct module_symbol *y = *(const struct module_symbol *const *)b;
	int order = array_order(x->address, y->address) ?:
		    array_order(symbol_merit(x), symbol_merit(y)) ?:
		    array_order(y->name_length, x->name_length);

	return order ? order : memcmp(y->name, x->name, x->name_length);
}

int symbol_index_make(struct symbol_index *index, const struct module *module)
{
	memset(index, 0, sizeof(*index));
	index->symbols = malloc((module->symbol_count + 1) *
				sizeof(*index->symbols));
	if (!index->symbols)
		return -ENOMEM;
	for (size_t i = 0; i < module->symbol_count; i++)
		if (symbol_is_code(module, &module->symbols[i]))
			index->symbols[index->count++] = &module->symbols[i];
	qsort(index->symbols, index->count, sizeof(*index->symbols),
	      symbol_index_compare);
	return 0;
}

void symbol_index_free(struct symbol_index *index)
{
	free(index->symbols);
	free(index->by_name);
	memset(index, 0, sizeof(*index));
}

static int symbol_name_compare(const void *a, const void *b)
{
	const struct module_symbol *x = *(const struct module_symbol *const *)a;
	const struct module_symbol *y = *(const struct module_symbol *const *)b;

	return array_order(x->name_length, y->name_length) ?:
	       memcmp(x->name, y->name, x->name_length);
}

bool symbol_index_is_unique(struct symbol_index *index,
			    const struct module_symbol *symbol)
{
	size_t low = 0, high = index->count;

	if (!index->by_name) {
		index->by_name = malloc((high + 1) * sizeof(*index->by_name));
		if (!index->by_name)
			return false;
		memcpy(index->by_name, index->symbols,
		       high * sizeof(*index->by_name));
		qsort(index->by_name, high, sizeof(*index->by_name),
		      symbol_name_compare);
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbol_name_compare(&index->by_name[middle], &symbol) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < index->count &&
	       !symbol_name_compare(&index->by_name[low], &symbol);
	     low++)
		if (index->by_name[low]->address != symbol->address)
			return false;
	return true;
}

bool symbol_has(const struct module_symbol *symbol, uint64_t address)
{
	return address >= symbol->address &&
	       (address - symbol->address < symbol->size ||
		address == symbol->address);
}

const struct module_symbol *
symbol_index_find(const struct symbol_index *index, uint64_t address)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->symbols[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i && low - i < AROUND_MAX; i--)
		if (symbol_has(index->symbols[i - 1], address))
			return index->symbols[i - 1];
	return low ? index->symbols[low - 1] : NULL;
}

// SPDX-License-Identifier: GPL-2.0
/* The symbols of a module: .symtab and .dynsym, of a debug file too. */
#include "module_elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"
#include "lib/debug/arch/arch.h"
#include "demangle.h"
#include "symbols.h"

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

/* NULL: none, or longer than what a TSF can name. */
static const char *symbol_name(const struct symbol_table *table, size_t at)
{
	const char *name;
	size_t left;

	if (!table->names || at >= table->names->d_size)
		return NULL;
	name = (const char *)table->names->d_buf + at;
	left = table->names->d_size - at;
	if (left > MODULE_SYMBOL_NAME_MAX)
		left = MODULE_SYMBOL_NAME_MAX;
	return memchr(name, '\0', left) ? name : NULL;
}

static void symbol_fill(const struct symbol_table *table, size_t i,
			struct module_symbol *symbol)
{
	const char *name, *version;
	GElf_Versym versym;
	GElf_Sym sym;

	memset(symbol, 0, sizeof(*symbol));
	symbol->name = "";
	if (!gelf_getsym(table->data, i, &sym) || !sym.st_name ||
	    GELF_ST_TYPE(sym.st_info) == STT_SECTION)
		return;
	name = symbol_name(table, sym.st_name);
	if (!name || (GELF_ST_BIND(sym.st_info) == STB_LOCAL &&
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

/* One entry per entry of the table, so that relocations find theirs by number;
 * those without a name aren't entered into the hash table, nor are files, which
 * the local symbols after them are of. */
static int symbol_table_load(struct module *module, struct symbol_table *table)
{
	size_t need = module->symbol_count + table->count;
	struct module_symbol *grown;
	uint32_t file = 0;

	if (need >= UINT32_MAX)
		return -ENOMEM;
	grown = realloc(module->symbols, (need + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	module->symbols = grown;
	table->first = module->symbol_count;
	for (size_t i = 0; i < table->count; i++) {
		struct module_symbol *symbol = &grown[table->first + i];

		symbol_fill(table, i, symbol);
		if (symbol->type == STT_FILE)
			file = table->first + i + 1;
		else if (symbol->bind == STB_LOCAL)
			symbol->file = file;
	}
	module->symbol_count = need;
	return 0;
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
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

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
	if (symbol_table_load(module, &table))
		return -ENOMEM;
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

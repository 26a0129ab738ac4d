// SPDX-License-Identifier: GPL-2.0
/* The symbols of a module: .symtab and .dynsym, of a debug file too. */
#include "module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../lib/hash.h"
#include "lexer.h"

#define VERSYM_HIDDEN		0x8000
#define SYMBOL_NAME_MAX		LEXER_TOKEN_MAX	/* what a TSF can name */
#define R_GLOB_DAT		6	/* R_X86_64_GLOB_DAT, R_386_GLOB_DAT */
#define NEAR_LOOKUPS_MAX	64	/* a large symbol table takes its time */
#define NEAR_NAMES		3
#define NEAR_NAME_MAX		128

struct symbol_table {
	Elf *elf;
	Elf_Data *data;
	Elf_Data *versions;	/* of .dynsym, or NULL */
	Elf_Data *names;	/* NULL: none */
	size_t index;		/* of the table's own section */
	uint32_t first;		/* in module->symbols; by number in the table */
	size_t count;
};

static bool symbol_is_wanted(const GElf_Sym *sym)
{
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_SECTION:
	case STT_FILE:
		return false;
	}
	return sym->st_name;
}

static bool symbol_is_old(const struct symbol_table *table, size_t i,
			  const char *version)
{
	GElf_Versym versym;

	if (version)
		return version[1] != '@';
	return table->versions &&
	       gelf_getversym(table->versions, i, &versym) &&
	       (versym & VERSYM_HIDDEN);
}

/* NULL: none, or longer than what a TSF can name. */
static const char *symbol_name(const struct symbol_table *table, size_t at)
{
	const char *name;
	size_t left;

	if (!table->names || at >= table->names->d_size)
		return NULL;
	name = (const char *)table->names->d_buf + at;
	left = table->names->d_size - at;
	if (left > SYMBOL_NAME_MAX)
		left = SYMBOL_NAME_MAX;
	return memchr(name, '\0', left) ? name : NULL;
}

static void symbol_fill(const struct symbol_table *table, size_t i,
			struct module_symbol *symbol)
{
	const char *name, *version;
	GElf_Sym sym;

	memset(symbol, 0, sizeof(*symbol));
	symbol->name = "";
	if (!gelf_getsym(table->data, i, &sym) || !symbol_is_wanted(&sym))
		return;
	name = symbol_name(table, sym.st_name);
	if (!name)
		return;
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
		.old_version = symbol_is_old(table, i, version),
	};
}

/* One entry per entry of the table, so that relocations find theirs by number;
 * those without a name aren't entered into the hash table. */
static int symbol_table_load(struct module *module, struct symbol_table *table)
{
	size_t need = module->symbol_count + table->count;
	struct module_symbol *grown;

	if (need >= UINT32_MAX)
		return -ENOMEM;
	grown = realloc(module->symbols, (need + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	module->symbols = grown;
	table->first = module->symbol_count;
	for (size_t i = 0; i < table->count; i++)
		symbol_fill(table, i, &grown[table->first + i]);
	module->symbol_count = need;
	return 0;
}

/* Where code of the module finds the addresses of data that another module
 * may define, or replace: a copy relocation moves it into the program. The
 * sections don't overlap: together they are no larger than the file, `left`. */
static void symbol_table_relocate(struct module *module,
				  const struct symbol_table *table,
				  size_t left)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(table->elf, scn))) {
		Elf_Data *data;
		GElf_Rela rela;
		GElf_Rel rel;

		if (!gelf_getshdr(scn, &sh) || sh.sh_link != table->index ||
		    (sh.sh_type != SHT_RELA && sh.sh_type != SHT_REL))
			continue;
		if (sh.sh_size > left || !(data = elf_getdata(scn, NULL)))
			continue;
		left -= sh.sh_size;
		for (int i = 0;; i++) {
			if (sh.sh_type == SHT_REL) {
				if (!gelf_getrel(data, i, &rel))
					break;
				rela.r_info = rel.r_info;
				rela.r_offset = rel.r_offset;
			} else if (!gelf_getrela(data, i, &rela)) {
				break;
			}
			if (GELF_R_TYPE(rela.r_info) == R_GLOB_DAT &&
			    GELF_R_SYM(rela.r_info) < table->count)
				module->symbols[table->first +
						GELF_R_SYM(rela.r_info)].slot =
					rela.r_offset;
		}
	}
}

static Elf_Data *symbol_versions(Elf *elf, size_t table)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_GNU_versym &&
		    sh.sh_link == table)
			return elf_getdata(scn, NULL);
	return NULL;
}

static size_t symbol_bucket(const struct module *module, const char *name,
			    size_t length)
{
	return hash_fnv(HASH_FNV_START, name, length) &
	       (module->bucket_count - 1);
}

static int symbol_hash_all(struct module *module)
{
	size_t want = 1024;

	while (want < module->symbol_count)
		want *= 2;
	free(module->buckets);
	module->bucket_count = want;
	module->buckets = calloc(want, sizeof(*module->buckets));
	if (!module->buckets)
		return -ENOMEM;
	for (size_t i = 0; i < module->symbol_count; i++) {
		struct module_symbol *symbol = &module->symbols[i];
		uint32_t *bucket;

		if (!symbol->name_length)
			continue;
		bucket = &module->buckets[symbol_bucket(module, symbol->name,
							symbol->name_length)];
		symbol->next = *bucket;
		*bucket = i + 1;
	}
	return 0;
}

/* The first of its kind: a file has one. */
static int symbol_table_find(struct module *module, Elf *elf, GElf_Word type)
{
	struct symbol_table table = { .elf = elf };
	Elf_Scn *scn = NULL;
	size_t file_size;
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
	if (type == SHT_DYNSYM)
		table.versions = symbol_versions(elf, table.index);
	if (table.data && table.data->d_buf)
		table.count = table.data->d_size /
			gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	if (symbol_table_load(module, &table))
		return -ENOMEM;
	if (type == SHT_DYNSYM && elf_rawfile(elf, &file_size))
		symbol_table_relocate(module, &table, file_size);
	return 0;
}

int module_load_symbols(struct module *module, Elf *elf)
{
	if (symbol_table_find(module, elf, SHT_SYMTAB) ||
	    symbol_table_find(module, elf, SHT_DYNSYM))
		return -ENOMEM;
	return symbol_hash_all(module);
}

static bool symbol_is_code(const struct module *module,
			   const struct module_symbol *symbol)
{
	size_t available;

	return !symbol->absolute &&
	       module_code(module, symbol->address, &available, NULL);
}

/* How well a symbol fits; more is better. */
static unsigned int symbol_rank(const struct module *module,
				const struct module_symbol *symbol,
				enum module_want want)
{
	bool function = symbol->type == STT_FUNC ||
			symbol->type == STT_GNU_IFUNC;
	unsigned int rank = symbol->defined ? 1000 : 0;

	if (want == MODULE_DATA)
		rank += function ? 0 : 100;
	else if (symbol->defined && symbol_is_code(module, symbol))
		rank += function ? 200 : 100;
	if (symbol->bind != STB_LOCAL)
		rank += symbol->bind == STB_WEAK ? 20 : 30;
	return rank + !symbol->old_version;
}

/* A symbol stands in .symtab and .dynsym; only one knows the relocation. */
static bool symbol_is_better(const struct module_symbol *a, unsigned int a_rank,
			     const struct module_symbol *b, unsigned int b_rank)
{
	if (a_rank != b_rank)
		return a_rank > b_rank;
	if (!a->slot != !b->slot)
		return a->slot;
	return a->address < b->address;
}

const struct module_symbol *
module_symbol_find(const struct module *module, const char *name,
		   enum module_want want, bool *others)
{
	const struct module_symbol *best = NULL;
	size_t length = strlen(name);
	unsigned int best_rank = 0;
	uint32_t i = 0;

	*others = false;
	if (module->bucket_count)
		i = module->buckets[symbol_bucket(module, name, length)];
	for (; i; i = module->symbols[i - 1].next) {
		const struct module_symbol *symbol = &module->symbols[i - 1];
		unsigned int rank;

		if (symbol->name_length != length ||
		    memcmp(symbol->name, name, length))
			continue;
		rank = symbol_rank(module, symbol, want);
		if (best && rank == best_rank && symbol->defined &&
		    symbol->address != best->address)
			*others = true;
		if (best && rank > best_rank)
			*others = false;
		if (!best || symbol_is_better(symbol, rank, best, best_rank)) {
			best = symbol;
			best_rank = rank;
		}
	}
	return best;
}

/* Edit distance of two names, at most `limit` + 1. */
static unsigned int near_distance(const char *a, size_t a_length,
				  const char *b, size_t b_length,
				  unsigned int limit)
{
	unsigned int row[NEAR_NAME_MAX + 1];

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned int corner = row[0], least = row[0] = i;

		for (size_t j = 1; j <= b_length; j++) {
			unsigned int best = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			if (best < least)
				least = best;
		}
		if (least > limit)
			return limit + 1;
	}
	return row[b_length];
}

/* A terminal shows it as it is. */
static bool near_is_printable(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f)
			return false;
	return true;
}

/* Distance of a symbol from a name; limit + 1 when it is far. A name that goes
 * on, or wants only leading underscores, is near. */
static unsigned int near_score(const struct module_symbol *symbol,
			       const char *name, size_t length,
			       unsigned int limit)
{
	size_t n = symbol->name_length;
	const char *s = symbol->name;

	if (n > NEAR_NAME_MAX)
		return limit + 1;
	while (n > length && *s == '_') {
		s++;
		n--;
	}
	if (n == length && !memcmp(s, name, n))
		return 1;
	if (length >= 3 && n > length && !memcmp(s, name, length))
		return limit;
	if (n > length + limit || length > n + limit)
		return limit + 1;
	return near_distance(name, length, s, n, limit);
}

struct near_list {
	const struct module_symbol *symbols[NEAR_NAMES];
	unsigned int scores[NEAR_NAMES];
	size_t count;
};

static int symbol_name_compare(const struct module_symbol *a,
			       const struct module_symbol *b)
{
	size_t least = a->name_length < b->name_length ? a->name_length :
							 b->name_length;
	int order = memcmp(a->name, b->name, least);

	if (order)
		return order;
	return (a->name_length > b->name_length) -
	       (a->name_length < b->name_length);
}

/* Keep the best few, ordered by score and name. */
static void near_list_add(struct near_list *list,
			  const struct module_symbol *symbol,
			  unsigned int score)
{
	size_t at = 0;

	while (at < list->count) {
		int order = symbol_name_compare(list->symbols[at], symbol);

		if (!order)
			return;
		if (list->scores[at] > score ||
		    (list->scores[at] == score && order > 0))
			break;
		at++;
	}
	if (at == NEAR_NAMES)
		return;
	if (list->count < NEAR_NAMES)
		list->count++;
	for (size_t i = list->count - 1; i > at; i--) {
		list->symbols[i] = list->symbols[i - 1];
		list->scores[i] = list->scores[i - 1];
	}
	list->symbols[at] = symbol;
	list->scores[at] = score;
}

void module_symbol_near(struct module *module, const char *name,
			enum module_want want, char *text, size_t size)
{
	size_t length = strlen(name), used = 0;
	unsigned int limit = length < 7 ? (length + 2) / 3 : 3;
	struct near_list list = {0};

	text[0] = '\0';
	if (length < 2 || length > NEAR_NAME_MAX ||
	    ++module->near_lookups > NEAR_LOOKUPS_MAX)
		return;
	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];
		unsigned int score;

		if (!symbol->name_length || !symbol->defined)
			continue;
		score = near_score(symbol, name, length, limit);
		if (score <= limit &&
		    (want == MODULE_DATA || symbol_is_code(module, symbol)) &&
		    near_is_printable(symbol->name, symbol->name_length))
			near_list_add(&list, symbol, score);
	}
	for (size_t i = 0; i < list.count && used < size; i++)
		used += snprintf(text + used, size - used, "%s%.*s",
				 i ? ", " : "",
				 (int)list.symbols[i]->name_length,
				 list.symbols[i]->name);
}

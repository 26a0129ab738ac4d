// SPDX-License-Identifier: GPL-2.0
/* The symbol that a name of a TSF means. */
#include "module_elf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"
#include "demangle.h"
#include "source_path.h"
#include "symbol_find.h"

/* How well a symbol fits; more is better. */
static unsigned int symbol_rank(const struct module *module,
				const struct module_symbol *symbol,
				enum module_want want)
{
	bool function = symbol->type == STT_FUNC ||
			symbol->type == STT_GNU_IFUNC;
	unsigned int rank = symbol->defined ? 1000 : 0;
	size_t available;

	if (want == MODULE_DATA)
		rank += function ? 0 : 100;
	else if (symbol->defined && !symbol->absolute &&
		 module_code(module, symbol->address, &available, NULL))
		rank += function ? 200 : 100;
	if (symbol->bind != STB_LOCAL)
		rank += symbol->bind == STB_WEAK ? 20 : 30;
	return rank + !symbol->old_version;
}

struct name_search {
	const struct module *module;
	const char *name;	/* after "file.c:" */
	char *file;		/* or NULL */
	enum module_want want;
	const struct module_symbol *best;
	unsigned int rank;	/* of the best */
	bool others;
};

/* "name" of "file.c:name": after a colon that is no part of a "::". */
static const char *after_file(const char *text)
{
	for (const char *p = text; *p && *p != '('; p++) {
		if (*p != ':')
			continue;
		if (p[1] != ':')
			return p > text && p[1] ? p + 1 : text;
		p++;
	}
	return text;
}

/* A symbol table has the file's name with or without directories. */
static bool symbol_is_of_file(const struct name_search *search,
			      const struct module_symbol *symbol)
{
	const char *path, *slash;

	if (!search->file)
		return true;
	if (!symbol->file)
		return false;
	path = search->module->symbols[symbol->file - 1].name;
	slash = strrchr(search->file, '/');
	return source_path_matches(path, search->file, false) ||
	       (slash && !strchr(path, '/') && !strcmp(path, slash + 1));
}

static void name_search_take(struct name_search *search,
			     const struct module_symbol *symbol)
{
	const struct module_symbol *best = search->best;
	unsigned int rank = symbol_rank(search->module, symbol, search->want);
	bool better = rank > search->rank;

	if (!symbol_is_of_file(search, symbol))
		return;
	if (best && rank == search->rank && symbol->defined &&
	    symbol->address != best->address)
		search->others = true;
	if (best && rank > search->rank)
		search->others = false;

	/* A symbol is in .symtab and .dynsym; only one has the relocation. */
	if (best && rank == search->rank)
		better = !symbol->slot != !best->slot ?
				 symbol->slot : symbol->address < best->address;
	if (!best || better) {
		search->best = symbol;
		search->rank = rank;
	}
}

/* All names of C++ are demangled when one of them is first asked for. */
const struct demangle_index *
module_symbol_full_names(const struct module *module)
{
	struct demangle_index *index = module->full_names;
	char name[MODULE_SYMBOL_NAME_MAX + 1];

	if (index->complete || index->failed)
		return index;
	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];

		if (symbol->name_length >= sizeof(name) ||
		    !demangle_is_mangled(symbol->name, symbol->name_length))
			continue;
		memcpy(name, symbol->name, symbol->name_length);
		name[symbol->name_length] = '\0';
		demangle_index_add(index, name, i);
	}
	index->complete = true;
	return index;
}

/* Call take for each symbol that the name can mean: the name itself goes
 * before what it may be short for, and that before templates with their return
 * type. */
static void search_each(struct name_search *search,
			void (*take)(struct name_search *search,
				     const struct module_symbol *symbol))
{
	const struct module *module = search->module;
	const struct demangle_index *index;
	const struct demangle_entry *entry;
	const struct module_symbol *symbol;
	size_t length = strlen(search->name), step = 0, i;
	uint64_t hash = hash_fnv(HASH_FNV_START, search->name, length);
	bool found = false;
	char *name;

	while ((i = key_map_each_number(&module->symbol_names, hash, &step))) {
		symbol = &module->symbols[i - 1];
		if (symbol->name_length == length &&
		    !memcmp(symbol->name, search->name, length)) {
			take(search, symbol);
			found = true;
		}
	}
	if (found || demangle_is_mangled(search->name, length))
		return;
	index = module_symbol_full_names(module);
	step = 0;
	while ((entry = demangle_index_next(index, search->name, &step))) {
		take(search, &module->symbols[entry->number]);
		found = true;
	}
	step = 0;
	while (!found &&
	       (entry = demangle_index_within(index, search->name, &step))) {
		symbol = &module->symbols[entry->number];
		name = strndup(symbol->name, symbol->name_length);
		if (name && demangle_is_whole(name, search->name))
			take(search, symbol);
		free(name);
	}
}

static void name_search_run(struct name_search *search, const char *name)
{
	search->name = after_file(name);
	if (search->name > name)
		search->file = strndup(name, search->name - name - 1);
	if (search->name == name || search->file)
		search_each(search, name_search_take);
}

const struct module_symbol *
module_symbol_find(const struct module *module, const char *name,
		   enum module_want want, bool *others)
{
	struct name_search search = { .module = module, .want = want };

	name_search_run(&search, name);
	free(search.file);
	*others = search.others;
	return search.best;
}

char *module_symbol_full_name(const struct module *module,
			      const struct module_symbol *symbol)
{
	char *name = strndup(symbol->name, symbol->name_length), *full = NULL;
	const char *file;

	if (!name)
		return NULL;
	full = demangle_symbol(name);
	if (!full && symbol->file) {
		file = module->symbols[symbol->file - 1].name;
		if (*file && asprintf(&full, "%s:%s", file, name) < 0)
			full = NULL;
	}
	if (!full)
		return name;
	free(name);
	return full;
}

struct symbol_candidates {
	struct name_search search;
	char *text;
	size_t size, used;
	uint64_t last;
};

static void candidates_take(struct name_search *search,
			    const struct module_symbol *symbol)
{
	struct symbol_candidates *c = (struct symbol_candidates *)search;
	bool mangled;
	char *full;

	if (symbol_rank(search->module, symbol, search->want) != search->rank ||
	    !symbol_is_of_file(search, symbol) || symbol->address == c->last)
		return;
	c->last = symbol->address;
	full = module_symbol_full_name(search->module, symbol);
	mangled = full && demangle_is_mangled(symbol->name,
					      symbol->name_length);
	if (full && c->used < c->size)
		c->used += snprintf(c->text + c->used, c->size - c->used,
				    "%s%s%s%.*s%s at %#" PRIx64,
				    c->used ? ", " : "", full,
				    mangled ? " (" : "",
				    mangled ? (int)symbol->name_length : 0,
				    symbol->name, mangled ? ")" : "",
				    symbol->address);
	free(full);
}

void module_symbol_candidates(const struct module *module, const char *name,
			      enum module_want want, char *text, size_t size)
{
	struct symbol_candidates c = {
		.search = { .module = module, .want = want },
		.text = text, .size = size,
	};

	text[0] = '\0';
	name_search_run(&c.search, name);
	if (c.search.best)
		search_each(&c.search, candidates_take);
	free(c.search.file);
}

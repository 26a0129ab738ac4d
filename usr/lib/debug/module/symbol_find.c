// SPDX-License-Identifier: GPL-2.0
/* The symbol that a name of a TSF means. */
#include "module_elf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "demangle.h"
#include "source_path.h"

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

struct search {
	const struct module *module;
	const char *name;	/* behind "file.c:" */
	char *file;		/* or NULL */
	enum module_want want;
	const struct module_symbol *best;
	unsigned int rank;	/* of the best */
	bool others;
};

/* "name" of "file.c:name": behind a colon that is no part of a "::". */
static const char *behind_file(const char *text)
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
static bool symbol_is_of_file(const struct search *search,
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

static void search_take(struct search *search,
			const struct module_symbol *symbol)
{
	const struct module_symbol *best = search->best;
	unsigned int rank = symbol_rank(search->module, symbol, search->want);

	if (!symbol_is_of_file(search, symbol))
		return;
	if (best && rank == search->rank && symbol->defined &&
	    symbol->address != best->address)
		search->others = true;
	if (best && rank > search->rank)
		search->others = false;
	if (!best || symbol_is_better(symbol, rank, best, search->rank)) {
		search->best = symbol;
		search->rank = rank;
	}
}

static uint32_t search_plain(const struct search *search)
{
	const struct module *module = search->module;

	return module->bucket_count ?
	       module->buckets[module_symbol_bucket(module, search->name,
						    strlen(search->name))] : 0;
}

static bool symbol_has_name(const struct module_symbol *symbol,
			    const char *name)
{
	return symbol->name_length == strlen(name) &&
	       !memcmp(symbol->name, name, symbol->name_length);
}

/* All names of C++ are demangled when one of them is first asked for. */
const struct demangle_index *
module_symbol_full_names(const struct module *module)
{
	struct demangle_index *index = module->full_names;
	char name[MODULE_SYMBOL_NAME_MAX + 1];

	if (index->buckets || index->failed)
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
	demangle_index_finish(index);
	return index;
}

static bool symbol_is_whole(const struct module_symbol *symbol,
			    const char *wanted)
{
	char *name = strndup(symbol->name, symbol->name_length);
	bool is = name && demangle_is_whole(name, wanted);

	free(name);
	return is;
}

/* Templates with their return type. */
static void search_whole(struct search *search,
			 void (*take)(struct search *search,
				      const struct module_symbol *symbol))
{
	const struct demangle_index *index =
		module_symbol_full_names(search->module);
	const struct demangle_entry *entry;
	uint32_t position = 0;

	while ((entry = demangle_index_within(index, search->name,
					      &position))) {
		const struct module_symbol *symbol =
			&search->module->symbols[entry->number];

		if (symbol_is_whole(symbol, search->name))
			take(search, symbol);
	}
}

/* Call take for each symbol that the name can mean: the name itself goes
 * before what it may be short for. */
static void search_each(struct search *search,
			void (*take)(struct search *search,
				     const struct module_symbol *symbol))
{
	const struct module *module = search->module;
	const struct demangle_entry *entry;
	uint32_t position = 0;
	bool found = false;

	for (uint32_t i = search_plain(search); i;
	     i = module->symbols[i - 1].next)
		if (symbol_has_name(&module->symbols[i - 1], search->name)) {
			take(search, &module->symbols[i - 1]);
			found = true;
		}
	if (found || demangle_is_mangled(search->name, strlen(search->name)))
		return;
	while ((entry = demangle_index_next(module_symbol_full_names(module),
					    search->name, &position))) {
		take(search, &module->symbols[entry->number]);
		found = true;
	}
	if (!found)
		search_whole(search, take);
}

static void search_run(struct search *search, const char *name)
{
	search->name = behind_file(name);
	if (search->name > name)
		search->file = strndup(name, search->name - name - 1);
	if (search->name == name || search->file)
		search_each(search, search_take);
}

const struct module_symbol *
module_symbol_find(const struct module *module, const char *name,
		   enum module_want want, bool *others)
{
	struct search search = { .module = module, .want = want };

	search_run(&search, name);
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

struct candidates {
	struct search search;
	char *text;
	size_t size, used;
	uint64_t last;
};

static void candidates_take(struct search *search,
			    const struct module_symbol *symbol)
{
	struct candidates *c = (struct candidates *)search;
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
	struct candidates c = {
		.search = { .module = module, .want = want },
		.text = text, .size = size,
	};

	text[0] = '\0';
	search_run(&c.search, name);
	if (c.search.best)
		search_each(&c.search, candidates_take);
	free(c.search.file);
}

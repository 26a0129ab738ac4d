// SPDX-License-Identifier: GPL-2.0
#include "symbol_find.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "lib/hash.h"
#include "demangle.h"
#include "module_elf.h"

static bool is_separator(char c)
{
	return c == '/' || c == '\\';
}

static bool char_equal(char a, char b, bool exact)
{
	if (is_separator(a) || exact)
		return a == b || (is_separator(a) && is_separator(b));
	return !strncasecmp(&a, &b, 1);
}

bool source_path_matches(const char *path, const char *wanted, bool exact)
{
	size_t n, length = strlen(path);

	while (wanted[0] == '.' &&
	       (is_separator(wanted[1]) ||
		(wanted[1] == '.' && is_separator(wanted[2]))))
		wanted += wanted[1] == '.' ? 3 : 2;
	n = strlen(wanted);
	if (!n || n > length)
		return false;
	for (size_t i = 1; i <= n; i++)
		if (!char_equal(path[length - i], wanted[n - i], exact))
			return false;
	return n == length || is_separator(path[length - n]) ||
	       is_separator(path[length - n - 1]);
}

const char *source_path_base(const char *path)
{
	const char *base = path;

	for (; *path; path++)
		if (is_separator(*path))
			base = path + 1;
	return base;
}

/* The symbol that a name of a TSF means. */

static bool symbol_in_code(const struct module *module,
			   const struct module_symbol *symbol)
{
	size_t available;

	return symbol->defined && !symbol->absolute &&
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
	else if (symbol_in_code(module, symbol))
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

/* Symbols whose names are of C++, by their numbers; empty without memory. All
 * names are demangled when one of them is first asked for. */
static const struct demangle_index *
module_symbol_full_names(const struct module *module)
{
	struct demangle_index *index = module->full_names;

	if (index->complete || index->failed)
		return index;
	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];

		if (demangle_is_mangled(symbol->name, symbol->name_length))
			demangle_index_add(index, symbol->name,
					   symbol->name_length, i);
	}
	index->complete = true;
	return index;
}

/* Is `wanted` the name in Go without type arguments, or with "[...]" for them as
 * Go prints them? */
static bool go_part_matches(const char *at, const char *end,
			    const char *wanted)
{
	while (at < end) {
		unsigned int depth = 0;

		if (*at == '[' && (*wanted != '[' ||
				   !strncmp(wanted, "[...]", 5))) {
			wanted += *wanted == '[' ? 5 : 0;
			do {
				depth += *at == '[';
				depth -= *at == ']';
			} while (++at < end && depth);
		} else if (*at++ != *wanted++) {
			return false;
		}
	}
	return !*wanted;
}

/* A function of that name in any package */
static bool go_is_function(const struct module_symbol *symbol,
			   const char *name)
{
	size_t length = strlen(name);
	const char *own = symbol->name + symbol->name_length - length - 1;

	if (symbol->type != STT_FUNC || symbol->name_length <= length + 1 ||
	    *own != '.' || memcmp(own + 1, name, length))
		return false;
	/* of the path only the last part has no dot */
	while (own > symbol->name && own[-1] != '.' && own[-1] != '/')
		own--;
	return own == symbol->name || own[-1] == '/';
}

/* "pkg.(*T).F" for "example.com/pkg.(*T[go.shape.int_0]).F". */
static bool go_name_matches(const struct module_symbol *symbol,
			    const char *wanted)
{
	const char *at = symbol->name, *end = at + symbol->name_length;

	if (symbol->type != STT_FUNC)
		return false;
	if (memchr(at, '[', end - at) && go_part_matches(at, end, wanted))
		return true;
	for (; at < end && *at != '['; at++)
		if (*at == '/' && go_part_matches(at + 1, end, wanted))
			return true;
	return false;
}

/* "F" is "main.F", or if there is none that of any package. */
static void go_each(struct name_search *search,
		    void (*take)(struct name_search *search,
				 const struct module_symbol *symbol))
{
	const struct module *module = search->module;
	bool is_main = false;

	if (!(runtime_find(module) & RUNTIME_GO))
		return;
	for (int round = 0; round < 2 && !is_main; round++)
		for (size_t i = 0; i < module->symbol_count; i++) {
			const struct module_symbol *symbol =
				&module->symbols[i];
			bool own = symbol->name_length > 5 &&
				   !memcmp(symbol->name, "main.", 5);

			if (own != !round ||
			    !go_is_function(symbol, search->name))
				continue;
			take(search, symbol);
			is_main |= own;
		}
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
	struct demangle_walk walk = { 0 };
	size_t length = strlen(search->name), step = 0, i;
	uint64_t hash = hash_fnv(HASH_FNV_START, search->name, length);
	bool found = false;

	while ((i = key_map_each_number(&module->symbol_names, hash, &step))) {
		const struct module_symbol *symbol = &module->symbols[i - 1];

		if (symbol->name_length == length &&
		    !memcmp(symbol->name, search->name, length)) {
			take(search, symbol);
			found = true;
		}
	}
	if (found || demangle_is_mangled(search->name, length))
		return;
	index = module_symbol_full_names(module);
	while ((entry = demangle_index_next(index, search->name, &walk))) {
		take(search, &module->symbols[entry->number]);
		found = true;
	}
	if (found || search->want != MODULE_CODE)
		return;
	if (!strchr(search->name, '.')) {
		go_each(search, take);
		return;
	}
	for (i = 0; i < module->symbol_count; i++)
		if (go_name_matches(&module->symbols[i], search->name))
			take(search, &module->symbols[i]);
}

static void name_search_run(struct name_search *search, const char *name,
			    void (*take)(struct name_search *search,
					 const struct module_symbol *symbol))
{
	search->name = after_file(name);
	if (search->name > name)
		search->file = strndup(name, search->name - name - 1);
	if (search->name == name || search->file)
		search_each(search, take);
}

const struct module_symbol *
module_symbol_find(const struct module *module, const char *name,
		   enum module_want want, bool *others)
{
	struct name_search search = { .module = module, .want = want };

	name_search_run(&search, name, name_search_take);
	free(search.file);
	*others = search.others;
	return search.best;
}

struct symbol_each {
	struct name_search search;
	void (*take)(void *context, const struct module_symbol *symbol);
	void *context;
};

static void each_symbol_take(struct name_search *search,
			     const struct module_symbol *symbol)
{
	struct symbol_each *each = (struct symbol_each *)search;

	if (symbol_is_of_file(search, symbol))
		each->take(each->context, symbol);
}

void module_symbol_each(const struct module *module, const char *name,
			enum module_want want,
			void (*take)(void *context,
				     const struct module_symbol *symbol),
			void *context)
{
	struct symbol_each each = {
		.search = { .module = module, .want = want },
		.take = take, .context = context,
	};

	name_search_run(&each.search, name, each_symbol_take);
	free(each.search.file);
}

/* "ns::fn(int)" or "file.c:name" of a symbol, malloc'd; NULL: no memory. */
static char *module_symbol_full_name(const struct module *module,
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
	name_search_run(&c.search, name, name_search_take);
	if (c.search.best)
		search_each(&c.search, candidates_take);
	free(c.search.file);
}

/* Names that are like one that wasn't found. */

#define NEAR_LOOKUPS_MAX	64
#define NEAR_SYMBOLS_MAX	4000000	/* looked at by all of them */
#define NEAR_NAMES		3
#define NEAR_NAME_MAX		128

/* Distance of a symbol's name from the one wanted; limit + 1 when it is far. A
 * name that goes on, or wants only leading underscores, is near. */
static unsigned int near_score(const char *s, size_t n, const char *name,
			       size_t length, unsigned int limit)
{
	unsigned int row[NEAR_NAME_MAX + 1];

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

	/* Edit distance of two names, at most `limit` + 1: of the matrix only
	 * what is that near to its diagonal is computed. */
	for (size_t j = 0; j <= n; j++)
		row[j] = j <= limit ? j : limit + 1;
	for (size_t i = 1; i <= length; i++) {
		size_t first = i > limit ? i - limit : 1;
		size_t last = i + limit < n ? i + limit : n;
		unsigned int corner = row[first - 1];
		unsigned int least = i <= limit ? i : limit + 1;

		row[first - 1] = least;
		for (size_t j = first; j <= last; j++) {
			unsigned int best = corner + (name[i - 1] != s[j - 1]);

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
	return row[n];
}

struct near_name {
	const char *text;
	size_t length;
	unsigned int score;
};

struct near_list {
	struct near_name names[NEAR_NAMES];
	size_t count;
};

/* Keep the best few, ordered by score and name. */
static void near_list_add(struct near_list *list, const struct near_name *name)
{
	size_t at = 0;

	for (; at < list->count; at++) {
		const struct near_name *have = &list->names[at];
		size_t least = have->length < name->length ? have->length :
							     name->length;
		int order = memcmp(have->text, name->text, least) ?:
			    array_order(have->length, name->length);

		if (!order)
			return;
		if (have->score > name->score ||
		    (have->score == name->score && order > 0))
			break;
	}
	if (at == NEAR_NAMES)
		return;
	list->count += list->count < NEAR_NAMES;
	memmove(&list->names[at + 1], &list->names[at],
		(list->count - 1 - at) * sizeof(*name));
	list->names[at] = *name;
}

static unsigned int near_limit(size_t length)
{
	return length < 7 ? (length + 2) / 3 : 3;
}

void module_symbol_near(struct module *module, const char *name,
			enum module_want want, char *text, size_t size)
{
	const struct demangle_index *index;
	size_t length = strlen(name), used = 0;
	unsigned int limit = near_limit(length);
	struct near_list list = { .count = 0 };

	text[0] = '\0';
	if (length < 2 || length > NEAR_NAME_MAX ||
	    ++module->near_lookups > NEAR_LOOKUPS_MAX ||
	    module->near_lookups * module->symbol_count > NEAR_SYMBOLS_MAX)
		return;
	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];
		struct near_name found = {
			symbol->name, symbol->name_length,
		};
		bool printable = found.length > 0;

		found.score = near_score(found.text, found.length, name,
					 length, limit);
		if (found.score > limit ||
		    !(want == MODULE_DATA ? symbol->defined :
					    symbol_in_code(module, symbol)))
			continue;
		for (size_t j = 0; j < found.length; j++)
			printable &= (unsigned char)found.text[j] > ' ' &&
				     found.text[j] != 0x7f;
		if (printable)
			near_list_add(&list, &found);
	}

	/* names of C++ by what names the function itself */
	index = module_symbol_full_names(module);
	name = demangle_base(demangle_start(name), &length);
	limit = near_limit(length);
	for (size_t i = 0; i < index->count; i++) {
		const struct demangle_entry *entry = &index->entries[i];
		const struct module_symbol *symbol =
			&module->symbols[entry->number];
		struct near_name found = { .text = entry->full };

		found.score = near_score(entry->base, entry->base_length, name,
					 length, limit);
		if (found.score > limit ||
		    !(want == MODULE_DATA ? symbol->defined :
					    symbol_in_code(module, symbol)))
			continue;
		found.length = strlen(found.text);
		near_list_add(&list, &found);
	}
	for (size_t i = 0; i < list.count && used < size; i++)
		used += snprintf(text + used, size - used, "%s%.*s",
				 i ? ", " : "", (int)list.names[i].length,
				 list.names[i].text);
}

/*
 * Sections that the kernel relocates each for itself: those of its modules, and
 * what has a copy on every processor.
 */

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

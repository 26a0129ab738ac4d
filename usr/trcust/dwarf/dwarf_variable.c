// SPDX-License-Identifier: GPL-2.0
/* What a name means at an address. */
#include "dwarf_variable.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf_line.h"
#include "dwarf_scope.h"
#include "../module/source_path.h"

#define EACH_MAX	4096	/* variables of one function */

/* A name outside of functions. */
struct search {
	struct dwarf_file *dwarf;
	const char *name;	/* the last part */
	const char *qualifier;	/* "ns::cls" before it; NULL */
	size_t qualifier_length;
	char *file;		/* only those declared there; NULL */
	const void *origin;	/* unit of the source that asks, preferred */
	const char *home;	/* the scope that asks, "ns::cls" */
	struct dwarf_variable *best;
	int rank;		/* -1: none yet */
	bool failed;		/* out of memory */
};

static bool path_matches(const struct search *search, const char *path)
{
	size_t length = strlen(path), wanted = search->qualifier_length;

	if (length < wanted ||
	    strncmp(path + length - wanted, search->qualifier, wanted))
		return false;
	return length == wanted || !wanted ||
	       (length > wanted + 2 && path[length - wanted - 1] == ':' &&
		path[length - wanted - 2] == ':');
}

static bool file_declares(const struct search *search, const struct unit *unit,
			  Dwarf_Die *die)
{
	Dwarf_Die root = dwarf_die_root(die), whole = unit->die;
	Dwarf_Attribute attr;
	Dwarf_Word number;
	const char *name = dwarf_diename(&whole);

	if (name && source_path_matches(name, search->file, false))
		return true;
	return !dwarf_formudata(dwarf_attr(&root, DW_AT_decl_file, &attr),
				&number) &&
	       dwarf_line_unit_file_matches(search->dwarf, root.cu, number,
					    search->file);
}

/* A definition before a declaration, then of the same source, then one that
 * the whole program sees. */
static void search_take(struct search *search, const struct unit *unit,
			Dwarf_Die *die)
{
	Dwarf_Die root = dwarf_die_root(die), whole;
	int rank;

	if (search->file && !file_declares(search, unit, die))
		return;
	rank = dwarf_variable_rank(die, 0) ? 4 : 0;
	if (dwarf_diecu(&root, &whole, NULL, NULL) &&
	    whole.addr == search->origin)
		rank += 2;
	rank += dwarf_die_flag(die, DW_AT_external);
	if (rank <= search->rank)
		return;
	search->rank = rank;
	dwarf_variable_fill(search->best, die, false);
}

static void search_name(struct search *search, const struct unit *unit,
			const struct unit_name *name)
{
	struct dwarf_variable found;
	Dwarf_Die die = name->die;

	if (name->kind == UNIT_VARIABLE) {
		if (!strcmp(name->name, search->name))
			search_take(search, unit, &die);
		return;
	}
	if (search->rank >= 4 ||
	    (search->file && !file_declares(search, unit, &die)))
		return;
	if (name->kind == UNIT_UNION ?
		    !dwarf_union_find(&die, search->name, &found) :
		    !dwarf_enumerator_find(&die, search->name, &found))
		return;
	found.local = false;
	*search->best = found;
	search->rank = 4;
}

static bool same_path(const char *path, const char *other, size_t length)
{
	return !strncmp(path, other, length) && !path[length];
}

static void search_scope(struct search *search, struct unit *unit,
			 uint32_t scope)
{
	const struct unit_name *name;
	uint32_t position = 0;

	while ((name = dwarf_unit_name_next(unit, search->name, &position)))
		if (name->scope == scope)
			search_name(search, unit, name);
}

/* The names in the scope of this path, and in the namespaces used there. */
static void search_path(struct search *search, struct unit *unit,
			const char *path, size_t length)
{
	const struct unit_name *name;
	uint32_t position = 0;
	bool any = false;

	while ((name = dwarf_unit_name_next(unit, search->name, &position))) {
		any = true;
		if (same_path(unit->scopes[name->scope].path, path, length))
			search_name(search, unit, name);
	}
	for (size_t i = 0; any && i < unit->using_count; i++)
		if (same_path(unit->scopes[unit->usings[i].scope].path, path,
			      length))
			search_scope(search, unit, unit->usings[i].target);
	search->failed |= unit->failed;
}

static void search_qualified(struct search *search, struct unit *unit)
{
	const struct unit_name *name;
	uint32_t position = 0;

	while ((name = dwarf_unit_name_next(unit, search->name, &position)))
		if (path_matches(search, unit->scopes[name->scope].path))
			search_name(search, unit, name);
	search->failed |= unit->failed;
}

/* The last "::" outside of template arguments. */
static const char *last_colons(const char *name)
{
	const char *last = NULL;
	int depth = 0;

	for (const char *p = name; *p; p++) {
		depth += *p == '<' ? 1 : *p == '>' ? -1 : 0;
		if (!depth && p[0] == ':' && p[1] == ':') {
			last = p;
			p++;
		}
	}
	return last;
}

/* "file.c:name": the first single colon. */
static const char *file_colon(const char *name)
{
	for (const char *p = strchr(name, ':'); p; p = strchr(p, ':')) {
		if (p[1] != ':')
			return p > name ? p : NULL;
		p += 2;
	}
	return NULL;
}

/* False: no memory. */
static bool search_begin(struct search *search, const char *name)
{
	const char *colon = file_colon(name), *colons;

	if (colon) {
		search->file = strndup(name, colon - name);
		if (!search->file)
			return false;
		name = colon + 1;
	}
	if (!strncmp(name, "::", 2))
		name += 2;
	colons = last_colons(name);
	if (colons) {
		search->qualifier = name;
		search->qualifier_length = colons - name;
		name = colons + 2;
	}
	search->name = name;
	return true;
}

static bool has_symbol(struct dwarf_file *dwarf, Dwarf_Die *die)
{
	const char *name = dwarf_variable_symbol(die);
	bool others;

	return name && module_symbol_find(dwarf->module, name, MODULE_DATA,
					  &others);
}

/* The unit that the function's source is in: of a function that the linker
 * optimized (LTO), or a member of a class in a type unit, another one. */
static struct unit *source_unit(struct dwarf_file *dwarf, Dwarf_Die *root)
{
	Dwarf_Die whole;

	return dwarf_diecu(root, &whole, NULL, NULL) ?
	       dwarf_unit_get(dwarf, &whole) : NULL;
}

/* How long the path of the scope around is. */
static size_t outer_length(const char *path, size_t length)
{
	int depth = 0;

	while (length-- > 0) {
		depth += path[length] == '>' ? 1 : path[length] == '<' ? -1 : 0;
		if (!depth && length && path[length] == ':' &&
		    path[length - 1] == ':')
			return length - 1;
	}
	return 0;
}

static int search_units(struct search *search, size_t length)
{
	Dwarf_CU *position = NULL;
	struct unit *unit;
	bool failed;

	while ((unit = dwarf_unit_next(search->dwarf, &position, &failed))) {
		if (search->qualifier)
			search_qualified(search, unit);
		else
			search_path(search, unit, search->home, length);
	}
	if (failed || search->failed)
		return -ENOMEM;
	return search->rank < 0 ? -ENOENT : 0;
}

/* All units, from the scope that asks outwards. */
static int search_program(struct search *search)
{
	size_t length = search->qualifier ? 0 : strlen(search->home);
	int code = search_units(search, length);

	while (code == -ENOENT && length) {
		length = outer_length(search->home, length);
		code = search_units(search, length);
	}
	return code;
}

/* From the scope of the function outwards, in its unit and that of its
 * source. */
static void search_outwards(struct search *search, struct unit *unit,
			    struct unit *source)
{
	size_t length = strlen(search->home);

	while (true) {
		search_path(search, unit, search->home, length);
		if (source && source != unit)
			search_path(search, source, search->home, length);
		if (search->rank >= 0 || !length)
			return;
		length = outer_length(search->home, length);
	}
}

static void search_unit(struct search *search,
			const struct dwarf_scopes *scopes)
{
	Dwarf_Die root, function;
	struct unit *source = NULL;

	if (scopes->count) {
		function = scopes->dies[0];
		root = dwarf_die_root(&function);
		source = source_unit(search->dwarf, &root);
	}
	if (source) {
		search->origin = source->die.addr;
		search->home = source->scopes[dwarf_unit_scope(source,
							       &root)].path;
	}
	if (!search->qualifier) {
		search_outwards(search, scopes->unit, source);
		return;
	}
	search_qualified(search, scopes->unit);
	if (source && source != scopes->unit)
		search_qualified(search, source);
}

/* A declaration tells the type; where it is, the symbol or another unit may
 * know. */
static int find_outside(struct search *search,
			const struct dwarf_scopes *scopes)
{
	struct dwarf_variable declared;
	int code;

	if (scopes->unit && !search->file)
		search_unit(search, scopes);
	if (search->failed)
		return -ENOMEM;
	if (search->rank < 0)
		return search_program(search);
	if (search->rank >= 4 || has_symbol(search->dwarf, &search->best->die))
		return 0;
	declared = *search->best;
	code = search_program(search);
	if (!code && search->rank < 4)
		*search->best = declared;
	return code;
}

/* Declared behind the line, in its file: not known there yet. */
static bool is_behind(const struct dwarf_scopes *scopes,
		      const struct dwarf_from *from, Dwarf_Die *die)
{
	Dwarf_Die root = dwarf_die_root(die);
	Dwarf_Attribute attr;
	Dwarf_Word line, file;

	return from->line && root.cu == scopes->dies[0].cu &&
	       dwarf_tag(&root) == DW_TAG_variable &&
	       dwarf_attr(&root, DW_AT_decl_line, &attr) &&
	       !dwarf_formudata(&attr, &line) && line > from->line &&
	       dwarf_attr(&root, DW_AT_decl_file, &attr) &&
	       !dwarf_formudata(&attr, &file) && file == from->file;
}

/* A name in the blocks of a function, inlined or not. */
struct inside {
	struct dwarf_scopes scopes;
	const struct dwarf_from *from;
	const char *name;
	struct dwarf_variable *variable;
	size_t count;		/* of the scopes around, still to look at */
	struct dwarf_variable behind;	/* the line */
	bool is_behind;
};

static bool inside_take(struct inside *in, size_t scope)
{
	struct dwarf_variable found;

	if (!dwarf_scope_find(&in->scopes, scope, in->from->pc, in->name,
			      &found))
		return false;
	if (!is_behind(&in->scopes, in->from, &found.die)) {
		*in->variable = found;
		return true;
	}
	if (!in->is_behind)
		in->behind = found;
	in->is_behind = true;
	return false;
}

/* From the scope in front of the count to the function that has it; the count
 * is what is around that one then. */
static bool find_inside(struct inside *in)
{
	Dwarf_Die *scope;

	while (in->count) {
		scope = &in->scopes.dies[--in->count];
		if (inside_take(in, in->count))
			return true;
		if (dwarf_tag(scope) == DW_TAG_inlined_subroutine)
			return !in->is_behind &&
			       dwarf_scope_find_lost(scope, in->name,
						     in->variable);
	}
	return false;
}

static bool find_around(struct inside *in)
{
	while (in->count && !in->is_behind)
		if (find_inside(in))
			return true;
	if (in->is_behind)
		*in->variable = in->behind;
	return in->is_behind;
}

int dwarf_variable_find_local(struct dwarf_file *dwarf,
			      const struct dwarf_from *from, const char *name,
			      struct dwarf_variable *variable)
{
	struct inside in = {
		.from = from, .name = name, .variable = variable,
	};
	int code = dwarf_scopes_find_from(dwarf, from, &in.scopes);

	if (code)
		return code;
	in.count = in.scopes.count;
	return find_around(&in) ? 0 : -ENOENT;
}

int dwarf_variable_find(struct dwarf_file *dwarf,
			const struct dwarf_from *from, const char *name,
			struct dwarf_variable *variable)
{
	struct search search = {
		.dwarf = dwarf, .best = variable, .rank = -1, .home = "",
	};
	struct inside in = {
		.from = from, .name = name, .variable = variable,
	};
	bool plain = !strchr(name, ':');
	int code = dwarf_scopes_find_from(dwarf, from, &in.scopes);

	if (code == -ENOMEM)
		return code;
	in.count = in.scopes.count;
	if (plain && find_inside(&in))
		return 0;
	if (!search_begin(&search, name))
		return -ENOMEM;
	code = find_outside(&search, &in.scopes);
	free(search.file);
	if (code == -ENOENT && plain && find_around(&in))
		code = 0;
	if (code == -ENOENT && in.scopes.count &&
	    dwarf_scope_find_lost(&in.scopes.dies[0], name, variable))
		code = 0;
	return code;
}

struct seen {
	Dwarf_Die die;
	const char *name;
	size_t scope;
	int rank;
};

struct collection {
	struct seen *seen;
	size_t count, scope;
	uint64_t pc;
};

static int collect(void *context, Dwarf_Die *die)
{
	struct collection *c = context;
	const char *name = dwarf_diename(die);
	struct seen *found = NULL;
	int rank;

	if (!name || dwarf_tag(die) == DW_TAG_enumeration_type)
		return 0;
	rank = dwarf_variable_rank(die, c->pc);
	for (size_t i = 0; i < c->count && !found; i++)
		if (!strcmp(c->seen[i].name, name))
			found = &c->seen[i];
	if (found && found->scope == c->scope && found->rank >= rank)
		return 0;
	if (found && found->scope != c->scope) {
		size_t behind = c->seen + c->count - (found + 1);

		memmove(found, found + 1, behind * sizeof(*found));
		c->count--;
		found = NULL;
	}
	if (!found && c->count < EACH_MAX)
		found = &c->seen[c->count++];
	if (found)
		*found = (struct seen){ *die, name, c->scope, rank };
	return 0;
}

int dwarf_variable_each(struct dwarf_file *dwarf,
			const struct dwarf_from *from,
			int (*take)(void *context, const char *name,
				    const struct dwarf_variable *variable),
			void *context)
{
	struct collection c = { .pc = from->pc };
	struct dwarf_variable variable;
	struct dwarf_scopes scopes;
	int code = dwarf_scopes_find_from(dwarf, from, &scopes);

	if (code)
		return code == -ENOENT ? 0 : code;
	c.seen = calloc(EACH_MAX, sizeof(*c.seen));
	if (!c.seen)
		return -ENOMEM;
	for (c.scope = 0; c.scope < scopes.count; c.scope++)
		dwarf_scope_each(&scopes, c.scope, collect, &c);
	for (int parameters = 1; parameters >= 0 && !code; parameters--)
		for (size_t i = 0; i < c.count && !code; i++) {
			dwarf_variable_fill(&variable, &c.seen[i].die, true);
			if (variable.parameter == parameters)
				code = take(context, c.seen[i].name,
					    &variable);
		}
	free(c.seen);
	return code;
}

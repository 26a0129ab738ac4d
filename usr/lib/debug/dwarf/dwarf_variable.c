// SPDX-License-Identifier: GPL-2.0
/* What a name means at an address. */
#include "dwarf_variable.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf_lookup.h"

#define EACH_MAX	4096	/* variables of one function */

/* Declared after the line, in its file: not known there yet. */
static bool is_later(const struct dwarf_scopes *scopes,
		     const struct dwarf_from *from, Dwarf_Die *die)
{
	Dwarf_Die root = dwarf_die_root(die);
	uint64_t line, file;

	return from->line && root.cu == scopes->dies[0].cu &&
	       (dwarf_tag(&root) == DW_TAG_variable ||
		dwarf_tag(&root) == DW_TAG_enumeration_type) &&
	       dwarf_die_number(&root, DW_AT_decl_line, &line) &&
	       line > from->line &&
	       dwarf_die_number(&root, DW_AT_decl_file, &file) &&
	       file == from->file;
}

/* A name in the blocks of a function, inlined or not */
struct inside {
	struct dwarf_scopes scopes;
	const struct dwarf_from *from;
	const char *name;
	struct dwarf_variable *variable;
	size_t count;		/* of the scopes around, still to look at */
	struct dwarf_variable later;	/* declared after the line */
	bool is_later;
};

/* From the scope before the count to the function that has it; the count is what
 * is around that one then. */
static bool find_inside(struct inside *in)
{
	while (in->count) {
		Dwarf_Die *scope = &in->scopes.dies[--in->count], at;
		struct dwarf_variable found;

		if (dwarf_scope_find(&in->scopes, in->count, in->from->pc,
				     in->name, &found)) {
			at = dwarf_tag(&found.die) == DW_TAG_enumerator ?
				     found.type : found.die;
			if (!is_later(&in->scopes, in->from, &at)) {
				*in->variable = found;
				return true;
			}
			if (!in->is_later)
				in->later = found;
			in->is_later = true;
		}
		if (dwarf_tag(scope) == DW_TAG_inlined_subroutine)
			return !in->is_later &&
			       dwarf_scope_find_lost(scope, in->name,
						     in->variable);
	}
	return false;
}

static bool find_around(struct inside *in)
{
	while (in->count && !in->is_later)
		if (find_inside(in))
			return true;
	if (in->is_later)
		*in->variable = in->later;
	return in->is_later;
}

/* The symbol of a static variable has the function's name in it: f.n of C,
 * _ZZ...E1n of C++ (Itanium ABI section 5.1.6). */
static bool symbol_is_of(const char *symbol, Dwarf_Die *function,
			 const char *name)
{
	const char *linkage = dwarf_die_linkage(function);
	const char *own = dwarf_diename(function);
	char start[512];

	if (linkage && !strncmp(linkage, "_Z", 2))
		snprintf(start, sizeof(start), "_ZZ%sE%zu%s", linkage + 2,
			 strlen(name), name);
	else if (own && !strncmp(symbol, "_ZZ", 3))
		snprintf(start, sizeof(start), "_ZZ%zu%sE%zu%s", strlen(own),
			 own, strlen(name), name);
	else
		snprintf(start, sizeof(start), "%s.%s", own ? own : "", name);
	return !strncmp(symbol, start, strlen(start)) &&
	       strchr("._", symbol[strlen(start)]);
}

/* Where clang has a static variable outside of the function that declares it.
 * Without its symbol it can't be known whose it is. */
static int find_orphan(const struct dwarf_file *dwarf,
		       const struct dwarf_scopes *scopes, const char *name,
		       struct dwarf_variable variable[2])
{
	Dwarf_Die function = scopes->dies[dwarf_scopes_function(scopes)];
	const struct unit *unit = scopes->unit;
	size_t found = 0;

	for (size_t i = 0; i < unit->orphan_count && found < 2; i++) {
		Dwarf_Die die = unit->orphans[i];
		const char *own = dwarf_diename(&die), *symbol;

		if (!own || strcmp(own, name))
			continue;
		symbol = dwarf_variable_symbol_at(dwarf, &die);
		if (symbol && symbol_is_of(symbol, &function, name))
			dwarf_variable_fill(&variable[found++], &die, true);
	}
	return found == 1 ? 0 : found ? -ENOTUNIQ : -ENOENT;
}

static int variable_take(const struct dwarf_named *named,
			 struct dwarf_variable *variable)
{
	Dwarf_Die die = named->die;

	if (named->kind != DWARF_NAMED_STATIC &&
	    named->kind != DWARF_NAMED_ENUMERATOR)
		return -EISDIR;
	dwarf_variable_fill(variable, &die, false);
	if (named->type.addr)
		variable->type = named->type;
	return 0;
}

int dwarf_variable_of(struct dwarf_file *dwarf, const struct dwarf_from *from,
		      const struct dwarf_named *named,
		      struct dwarf_variable *variable)
{
	struct dwarf_named defined = *named;
	struct dwarf_scopes scopes;
	int code = dwarf_scopes_find_from(dwarf, from, &scopes);

	if (code == -ENOMEM || dwarf_lookup_define(dwarf, &scopes, &defined))
		return -ENOMEM;
	return variable_take(&defined, variable);
}

/* In a member function the names of the class of *this come first (C++17
 * section 12.2.2). */
static int find_of_this(struct dwarf_file *dwarf, const struct dwarf_from *from,
			const char *name, struct dwarf_named found[2])
{
	struct dwarf_variable this;
	struct inside in = { .from = from, .name = "this", .variable = &this };
	Dwarf_Die class;

	if (strchr(name, ':') && (!strncmp(name, "::", 2) ||
				  strchr(name, ':')[1] != ':'))
		return -ENOENT;
	if (dwarf_scopes_find_from(dwarf, from, &in.scopes))
		return -ENOENT;
	in.count = in.scopes.count;
	if (!find_around(&in) || !this.type.addr)
		return -ENOENT;
	dwarf_type_peel(&this.type, &class, NULL);
	if (dwarf_type_kind(&class) != DWARF_TYPE_POINTER ||
	    !dwarf_type_of(&class, &class))
		return -ENOENT;
	dwarf_type_peel(&class, &class, NULL);
	if (!class.addr || !dwarf_type_complete(dwarf, &class))
		return -ENOENT;
	return dwarf_member_find(dwarf, &class, name, false, found);
}

static int find_outside(struct dwarf_file *dwarf,
			const struct dwarf_from *from,
			const struct dwarf_scopes *scopes, const char *name,
			struct dwarf_variable variable[2])
{
	struct dwarf_lookup lookup = {
		.dwarf = dwarf, .scopes = scopes, .name = name,
	};
	struct dwarf_named found[2];
	int code = scopes->count ? find_of_this(dwarf, from, name, found) :
				   -ENOENT;

	if (code == -ENOENT) {
		code = dwarf_lookup_find(&lookup, found);
	} else if (!code && found[0].kind == DWARF_NAMED_DATA) {
		memset(variable, 0, sizeof(*variable));
		variable->of_this = true;
		variable->member = found[0];
		return 0;
	} else if (!code) {
		code = dwarf_lookup_define(dwarf, scopes, &found[0]);
	}
	if (code == -ENOTUNIQ) {
		for (int i = 0; i < 2; i++) {
			variable[i].die = found[i].die;
			variable[i].type = found[i].type;
		}
		return code;
	}
	return code ? code : variable_take(&found[0], variable);
}

/* A block has the name. */
static int complete_inside(struct dwarf_file *dwarf,
			   const struct dwarf_from *from,
			   const struct dwarf_scopes *scopes, const char *name,
			   struct dwarf_variable variable[2])
{
	struct dwarf_named named = {
		.kind = DWARF_NAMED_STATIC, .die = variable->die,
	};
	struct dwarf_variable outside[2];
	int code;

	if (variable->is_doubtful) {	/* one outside may be meant as well */
		code = find_outside(dwarf, from, scopes, name, outside);
		if (code || outside[0].die.addr == variable->die.addr)
			return code == -ENOMEM ? code : 0;
		variable[1] = outside[0];
		return -ENOTUNIQ;
	}
	/* the block may declare what another unit defines */
	if (!dwarf_die_flag(&variable->die, DW_AT_declaration))
		return 0;
	code = dwarf_lookup_define(dwarf, scopes, &named);
	variable->die = named.die;
	return code;
}

int dwarf_variable_find(struct dwarf_file *dwarf,
			const struct dwarf_from *from, const char *name,
			struct dwarf_variable variable[2])
{
	struct inside in = {
		.from = from, .name = name, .variable = variable,
	};
	bool plain = !strchr(name, ':');
	int code = dwarf_scopes_find_from(dwarf, from, &in.scopes);

	if (code == -ENOMEM)
		return code;
	in.count = in.scopes.count;
	if (plain && find_inside(&in))
		return complete_inside(dwarf, from, &in.scopes, name, variable);
	code = plain && in.scopes.count && !in.is_later ?
		       find_orphan(dwarf, &in.scopes, name, variable) : -ENOENT;
	if (code != -ENOENT)
		return code;
	code = find_outside(dwarf, from, &in.scopes, name, variable);
	/* What a lambda has by reference is the variable of the function that
	 * it was inlined into. */
	if (!code && variable->of_this) {
		struct dwarf_named *member = &variable->member;

		if (!dwarf_diename(&member->class) && member->type.addr &&
		    dwarf_tag(&member->type) == DW_TAG_reference_type)
			find_around(&in);
	}
	if (code == -ENOENT && plain && find_around(&in))
		code = 0;
	if (code == -ENOENT && in.scopes.count &&
	    dwarf_scope_find_lost(&in.scopes.dies[0], name, variable))
		code = 0;
	return code;
}

struct variable_seen {
	Dwarf_Die die;
	const char *name;
	size_t scope;
	int rank;
};

struct variable_list {
	struct variable_seen *seen;
	size_t count, scope;
	uint64_t pc;
};

static int collect(void *context, Dwarf_Die *die)
{
	struct variable_list *c = context;
	const char *name = dwarf_diename(die);
	struct variable_seen *found = NULL;
	int rank;

	if (!name || dwarf_tag(die) == DW_TAG_enumeration_type ||
	    dwarf_tag(die) == DW_TAG_imported_declaration ||
	    dwarf_tag(die) == DW_TAG_imported_module)
		return 0;
	rank = dwarf_variable_rank(die, c->pc);
	for (size_t i = 0; i < c->count && !found; i++)
		if (!strcmp(c->seen[i].name, name))
			found = &c->seen[i];
	if (found && found->scope == c->scope && found->rank >= rank)
		return 0;
	if (found && found->scope != c->scope) {
		size_t after = c->seen + c->count - (found + 1);

		memmove(found, found + 1, after * sizeof(*found));
		c->count--;
		found = NULL;
	}
	if (!found && c->count < EACH_MAX)
		found = &c->seen[c->count++];
	if (found)
		*found = (struct variable_seen){ *die, name, c->scope, rank };
	return 0;
}

int dwarf_variable_each(struct dwarf_file *dwarf,
			const struct dwarf_from *from,
			int (*take)(void *context, const char *name,
				    const struct dwarf_variable *variable),
			void *context)
{
	struct variable_list c = { .pc = from->pc };
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

// SPDX-License-Identifier: GPL-2.0
/* What a name means at an address: a variable, or a type. */
#include "dwarf_variable.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf_lookup.h"

#define LOST_DEEP	64	/* blocks without code in each other */
#define EACH_MAX	4096	/* variables of one function */

/* ---- variables ---- */

/* It has one address and no other location. */
static bool has_one_address(Dwarf_Die *die, uint64_t *address)
{
	Dwarf_Attribute attr;
	size_t count;
	Dwarf_Op *ops;

	return !dwarf_getlocation(dwarf_die_location(die, DW_AT_location,
						       &attr), &ops, &count) &&
	       dwarf_die_address(&attr, ops, count, address);
}

/* The symbol at the one address that it has; NULL: none. */
static const char *symbol_at(const struct dwarf_file *dwarf, Dwarf_Die *die)
{
	const struct module *module = dwarf->module;
	uint64_t address;

	if (!has_one_address(die, &address))
		return NULL;
	for (size_t i = 0; i < module->symbol_count; i++)
		if (module->symbols[i].address == address &&
		    module->symbols[i].type == STT_OBJECT)
			return module->symbols[i].name;
	return NULL;
}

struct block_search {
	const char *name;
	uint64_t pc;
	struct dwarf_variable *best;
	int rank;		/* -1: none yet */
};

/* Blocks that the compiler joined leave several of the same name. */
static int scope_block_take(void *context, Dwarf_Die *die)
{
	struct block_search *search = context;
	const char *name = dwarf_diename(die);
	int tag = dwarf_tag(die), rank = 2;
	struct dwarf_variable found;
	Dwarf_Die target;

	switch (tag) {
	case DW_TAG_imported_module:
		return 0;
	case DW_TAG_imported_declaration:	/* a using declaration */
		if (!dwarf_die_refer(die, DW_AT_import, &target))
			return 0;
		if (!name)
			name = dwarf_diename(&target);
		if (dwarf_tag(&target) == DW_TAG_variable && name &&
		    !strcmp(name, search->name)) {
			dwarf_variable_fill(&found, &target, false);
		} else if (dwarf_tag(&target) == DW_TAG_enumeration_type &&
			   dwarf_enumerator_find(&target, search->name,
						 &found)) {
			found.is_doubtful = true;
		} else {
			return 0;
		}
		break;
	case DW_TAG_enumeration_type:
		if (!dwarf_enumerator_find(die, search->name, &found))
			return 0;
		found.local = true;
		break;
	default:
		if (name ? strcmp(name, search->name) :
			   !dwarf_union_find(die, search->name, &found))
			return 0;
		if (name)
			dwarf_variable_fill(&found, die, true);
		rank = dwarf_variable_rank(die, search->pc);
	}
	/* only variables with a name replace one that was found before */
	if (search->rank >= 0 && (tag == DW_TAG_imported_declaration ||
				  tag == DW_TAG_enumeration_type || !name))
		return 0;
	if (rank > search->rank) {
		search->rank = rank;
		*search->best = found;
	}
	return 0;
}

/* The variable, parameter or constant that the name means in the block */
static bool scope_find(const struct dwarf_scopes *scopes, size_t scope,
		       uint64_t pc, const char *name,
		       struct dwarf_variable *variable)
{
	struct block_search search = {
		.name = name, .pc = pc, .best = variable, .rank = -1,
	};
	uint64_t address;
	int tag;

	dwarf_scope_each(scopes, scope, scope_block_take, &search);
	if (search.rank < 0 || !variable->local ||
	    !dwarf_scope_is_loose(scopes, scope))
		return search.rank >= 0;
	/* static: it has one address, or none that is left */
	tag = dwarf_tag(&variable->die);
	variable->is_doubtful |= tag == DW_TAG_enumerator ||
		(tag == DW_TAG_variable &&
		 (!dwarf_hasattr_integrate(&variable->die, DW_AT_location) ||
		  has_one_address(&variable->die, &address)));
	return true;
}

static bool scope_find_lost(Dwarf_Die *block, const char *name,
			    unsigned int depth, const void **last,
			    struct dwarf_variable *variable)
{
	Dwarf_Die child;

	if (depth == LOST_DEEP)
		return false;
	for (dwarf_die_child(block, &child); child.addr > *last;
	     dwarf_die_sibling(&child)) {
		int tag = dwarf_tag(&child);

		*last = child.addr;
		if (tag == DW_TAG_variable &&
		    dwarf_die_is_named(&child, name) &&
		    !dwarf_variable_rank(&child, 0) &&
		    !dwarf_hasattr(&child, DW_AT_declaration)) {
			dwarf_variable_fill(variable, &child, true);
			return true;
		}
		if (dwarf_block_is_one(tag) && !dwarf_die_has_code(&child) &&
		    scope_find_lost(&child, name, depth + 1, last, variable))
			return true;
	}
	return false;
}

/* Of blocks of the function that have no code left: one without a place */
static bool find_lost(Dwarf_Die *function, const char *name,
		      struct dwarf_variable *variable)
{
	Dwarf_Die at = *function;
	int origins = 0;

	do {
		const void *last = NULL;

		if (scope_find_lost(&at, name, 0, &last, variable))
			return true;
	} while (origins++ < DWARF_ORIGINS_MAX && dwarf_die_origin(&at));
	return false;
}

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
	struct dwarf_file *dwarf;
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

		if (scope_find(&in->scopes, in->count, in->from->pc,
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
			       find_lost(scope, in->name, in->variable);
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
static int find_orphan(const struct inside *use)
{
	const struct dwarf_scopes *scopes = &use->scopes;
	Dwarf_Die function = scopes->dies[dwarf_scopes_function(scopes)];
	const struct unit *unit = scopes->unit;
	size_t found = 0;

	for (size_t i = 0; i < unit->orphan_count && found < 2; i++) {
		Dwarf_Die die = unit->orphans[i];
		const char *symbol;

		if (!dwarf_die_is_named(&die, use->name))
			continue;
		symbol = symbol_at(use->dwarf, &die);
		if (symbol && symbol_is_of(symbol, &function, use->name))
			dwarf_variable_fill(&use->variable[found++], &die,
					    true);
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
static int find_of_this(const struct inside *use, struct dwarf_named found[2])
{
	const char *colon = strchr(use->name, ':');
	struct dwarf_variable this;
	struct inside in = *use;
	Dwarf_Die class;

	if (colon && (colon[1] != ':' || colon == use->name))
		return -ENOENT;
	in.name = "this";
	in.variable = &this;
	in.count = in.scopes.count;
	in.is_later = false;
	if (!find_around(&in) || !this.type.addr)
		return -ENOENT;
	dwarf_type_peel(&this.type, &class, NULL);
	if (dwarf_type_kind(&class) != DWARF_TYPE_POINTER)
		return -ENOENT;
	class = dwarf_type_bare(&class);
	if (!class.addr || !dwarf_type_complete(use->dwarf, &class))
		return -ENOENT;
	return dwarf_member_find(use->dwarf, &class, use->name, false, found);
}

static int find_outside(const struct inside *use,
			struct dwarf_variable variable[2])
{
	struct dwarf_lookup lookup = {
		.dwarf = use->dwarf, .scopes = &use->scopes, .name = use->name,
	};
	struct dwarf_named found[2];
	int code = use->scopes.count ? find_of_this(use, found) : -ENOENT;

	if (code == -ENOENT) {
		code = dwarf_lookup_find(&lookup, found);
	} else if (!code && found[0].kind == DWARF_NAMED_DATA) {
		memset(variable, 0, sizeof(*variable));
		variable->of_this = true;
		variable->member = found[0];
		return 0;
	} else if (!code) {
		code = dwarf_lookup_define(use->dwarf, &use->scopes, &found[0]);
	}
	for (int i = 0; i < 2 && code == -ENOTUNIQ; i++) {
		variable[i].die = found[i].die;
		variable[i].type = found[i].type;
	}
	return code ? code : variable_take(&found[0], variable);
}

/* A block has the name. */
static int complete_inside(const struct inside *use)
{
	struct dwarf_variable outside[2], *variable = use->variable;
	struct dwarf_named named = {
		.kind = DWARF_NAMED_STATIC, .die = variable->die,
	};
	int code;

	if (variable->is_doubtful) {	/* one outside may be meant as well */
		code = find_outside(use, outside);
		if (code || outside[0].die.addr == variable->die.addr)
			return code == -ENOMEM ? code : 0;
		variable[1] = outside[0];
		return -ENOTUNIQ;
	}
	/* the block may declare what another unit defines */
	if (!dwarf_die_flag(&variable->die, DW_AT_declaration))
		return 0;
	code = dwarf_lookup_define(use->dwarf, &use->scopes, &named);
	variable->die = named.die;
	return code;
}

int dwarf_variable_find(struct dwarf_file *dwarf, const struct dwarf_from *from,
			const char *name, struct dwarf_variable variable[2])
{
	struct inside in = {
		.dwarf = dwarf, .from = from, .name = name,
		.variable = variable,
	};
	bool plain = !strchr(name, ':');
	int code = dwarf_scopes_find_from(dwarf, from, &in.scopes);

	if (code == -ENOMEM)
		return code;
	in.count = in.scopes.count;
	if (plain && find_inside(&in))
		return complete_inside(&in);
	code = plain && in.scopes.count && !in.is_later ? find_orphan(&in) :
							  -ENOENT;
	if (code != -ENOENT)
		return code;
	code = find_outside(&in, variable);
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
	    find_lost(&in.scopes.dies[0], name, variable))
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

int dwarf_variable_each(struct dwarf_file *dwarf, const struct dwarf_from *from,
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
				code = take(context, c.seen[i].name, &variable);
		}
	free(c.seen);
	return code;
}

/* ---- types ---- */

/* Types of the blocks around it, or of what they are copies of, the innermost
 * first. *loose: one outside may be meant as well. */
static void search_blocks(struct type_search *search, struct dwarf_file *dwarf,
			  const struct dwarf_from *from, bool *loose)
{
	struct dwarf_scopes scopes;

	*loose = false;
	if (dwarf_scopes_find_from(dwarf, from, &scopes))
		return;
	for (size_t i = scopes.count; i--; ) {
		const struct dwarf_block *block =
			&scopes.blocks->list[scopes.numbers[i]];
		Dwarf_Die die = block->die;
		bool found = block->types &&
			     dwarf_type_search_block(search, &die);

		for (int k = 0; k < DWARF_ORIGINS_MAX && !found &&
				dwarf_die_origin(&die); k++)
			found = dwarf_type_search_block(search, &die);
		if (found) {
			*loose = dwarf_scope_is_loose(&scopes, i);
			return;
		}
	}
}

/* Names of a C++ unit have scopes: as the function sees them. */
static int search_scopes(struct type_search *search, struct dwarf_file *dwarf,
			 const struct dwarf_from *from, const char *name)
{
	struct dwarf_named found[2];
	struct dwarf_scopes scopes;
	struct dwarf_lookup lookup = {
		.dwarf = dwarf, .scopes = &scopes, .name = name, .types = true,
		.tag = search->tag,
	};
	int code = dwarf_scopes_find_from(dwarf, from, &scopes);

	if (!code)
		code = dwarf_lookup_find(&lookup, found);
	if (code && code != -ENOTUNIQ)
		return code;
	for (int i = 0; i <= (code == -ENOTUNIQ); i++) {
		search->found[i] = found[i].die;
		if (!dwarf_type_complete(dwarf, &search->found[i]))
			return -ENOENT;
	}
	return code;
}

int dwarf_type_find(struct dwarf_file *dwarf, const struct dwarf_from *from,
		    const char *tag, const char *name, Dwarf_Die type[2])
{
	struct type_search search = {
		.tag = tag, .name = name, .code = -ENOENT,
	};
	bool loose = false, known;
	Dwarf_Die inside, unit;
	bool in_unit = dwarf_unit_find(dwarf, from->pc, &unit);

	search.absolute = !strncmp(name, "::", 2);
	search.name += search.absolute ? 2 : 0;
	if (in_unit)
		search_blocks(&search, dwarf, from, &loose);
	inside = search.found[0];
	if (in_unit && (search.code == -ENOENT || loose))
		search.code = dwarf_type_is_tagless(&unit) ?
			search_scopes(&search, dwarf, from, name) :
			dwarf_type_search_unit(&search, dwarf, &unit);
	if (loose) {
		search.found[1] = search.found[0];
		search.found[0] = inside;
		search.code = search.code == -ENOMEM ? -ENOMEM :
			search.code ||
			dwarf_type_same(&inside, &search.found[1]) ?
				0 : -ENOTUNIQ;
	} else if (search.code == -ENOENT) {
		known = !in_unit || search.is_declared;
		dwarf_type_search_unit(&search, dwarf, NULL);
		search.code = search.code || known ? search.code : 1;
	}
	memcpy(type, search.found, sizeof(search.found));
	return search.code;
}


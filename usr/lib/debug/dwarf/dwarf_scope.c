// SPDX-License-Identifier: GPL-2.0
#include "dwarf_scope.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf_type.h"

#define DEPTH_MAX	64

/* From the function inwards, up to the block of that number. */
static void scopes_fill(struct dwarf_scopes *scopes, uint32_t number)
{
	scopes->count = 1;
	for (uint32_t i = number; i; i = scopes->blocks->list[i].outer)
		scopes->count++;
	for (size_t at = scopes->count; at--; ) {
		const struct dwarf_block *block = &scopes->blocks->list[number];

		scopes->dies[at] = block->die;
		scopes->numbers[at] = number;
		number = block->outer;
	}
}

int dwarf_scopes_find(struct dwarf_file *dwarf, uint64_t pc,
		      struct dwarf_scopes *scopes)
{
	Dwarf_Die die;

	scopes->count = 0;
	scopes->unit = NULL;
	if (!dwarf_unit_find(dwarf, pc, &die))
		return -ENOENT;
	scopes->unit = dwarf_unit_get(dwarf, &die);
	if (!scopes->unit)
		return -ENOMEM;
	if (!dwarf_unit_code(scopes->unit, pc, &scopes->dies[0]))
		return scopes->unit->failed ? -ENOMEM : 0;
	scopes->blocks = dwarf_blocks_get(scopes->unit, &scopes->dies[0]);
	if (!scopes->blocks)
		return -ENOMEM;
	scopes_fill(scopes, dwarf_block_find(scopes->blocks, pc));
	return 0;
}

bool dwarf_scope_is_function(const struct dwarf_scopes *scopes, size_t scope)
{
	Dwarf_Die die = scopes->dies[scope];

	return !scope || dwarf_tag(&die) == DW_TAG_inlined_subroutine;
}

size_t dwarf_scopes_function(const struct dwarf_scopes *scopes)
{
	size_t at = scopes->count - 1;

	while (!dwarf_scope_is_function(scopes, at))
		at--;
	return at;
}

int dwarf_scopes_find_from(struct dwarf_file *dwarf,
			   const struct dwarf_from *from,
			   struct dwarf_scopes *scopes)
{
	int code = dwarf_scopes_find(dwarf, from->pc, scopes);
	size_t at = 0;

	if (code || !scopes->count || (!from->outermost && !from->function))
		return code;
	while (!from->outermost && at < scopes->count &&
	       scopes->dies[at].addr != from->function)
		at++;
	/* without the functions that are inlined into this scope */
	for (size_t i = at + 1; i < scopes->count; i++)
		if (dwarf_scope_is_function(scopes, i))
			scopes->count = i;
	if (at < scopes->count)
		return 0;
	/* A copy may have a line in the code of others, and none of its own
	 * there. */
	for (size_t i = 0; i < scopes->blocks->count; i++)
		if (scopes->blocks->list[i].die.addr == from->function) {
			scopes_fill(scopes, i);
			break;
		}
	return 0;
}

bool dwarf_scopes_choose(struct dwarf_file *dwarf,
			 const struct dwarf_from *from, Dwarf_Die *function)
{
	struct dwarf_scopes all, scopes;

	if (dwarf_scopes_find(dwarf, from->pc, &all) ||
	    dwarf_scopes_find_from(dwarf, from, &scopes) || !scopes.count)
		return false;
	*function = scopes.dies[dwarf_scopes_function(&scopes)];
	return dwarf_scopes_function(&all) || dwarf_scopes_function(&scopes);
}

int dwarf_scope_each(const struct dwarf_scopes *scopes, size_t scope,
		     int (*take)(void *context, Dwarf_Die *die),
		     void *context)
{
	const struct dwarf_blocks *blocks = scopes->blocks;
	Dwarf_Die at = scopes->dies[scope], die;
	int code = 0;

	for (uint32_t i = blocks->list[scopes->numbers[scope]].first;
	     i && !code; i = blocks->declarations[i - 1].next) {
		die = blocks->declarations[i - 1].die;
		code = take(context, &die);
	}
	for (int i = 0; i < DWARF_ORIGINS_MAX && !code &&
			dwarf_die_origin(&at); i++)
		for (dwarf_die_child(&at, &die); die.addr && !code;
		     dwarf_die_sibling(&die))
			if (dwarf_block_declares(dwarf_tag(&die)))
				code = take(context, &die);
	return code;
}

void dwarf_variable_fill(struct dwarf_variable *variable, Dwarf_Die *die,
			 bool local)
{
	memset(variable, 0, sizeof(*variable));
	variable->die = *die;
	variable->local = local;
	variable->parameter = dwarf_tag(die) == DW_TAG_formal_parameter;
	if (!dwarf_type_of(die, &variable->type))
		memset(&variable->type, 0, sizeof(variable->type));
}

bool dwarf_enumerator_find(Dwarf_Die *enumeration, const char *name,
			   struct dwarf_variable *variable)
{
	Dwarf_Die child;

	for (dwarf_die_child(enumeration, &child); child.addr;
	     dwarf_die_sibling(&child)) {
		if (dwarf_tag(&child) != DW_TAG_enumerator ||
		    !dwarf_die_is_named(&child, name))
			continue;
		memset(variable, 0, sizeof(*variable));
		variable->die = child;
		variable->type = *enumeration;
		return true;
	}
	return false;
}

int dwarf_variable_rank(Dwarf_Die *die, uint64_t pc)
{
	Dwarf_Attribute attr;
	size_t count;
	Dwarf_Op *ops;

	if (dwarf_attr_integrate(die, DW_AT_location, &attr))
		return dwarf_getlocation_addr(&attr, pc, &ops, &count, 1) > 0 &&
		       count ? 2 : 1;
	return dwarf_attr_integrate(die, DW_AT_const_value, &attr) ? 2 : 0;
}

const char *dwarf_variable_symbol_at(const struct dwarf_file *dwarf,
				     Dwarf_Die *die)
{
	const struct module *module = dwarf->module;
	Dwarf_Attribute attr;
	uint64_t address;
	size_t count;
	Dwarf_Op *ops;

	if (dwarf_getlocation(dwarf_attr(die, DW_AT_location, &attr), &ops,
			      &count) ||
	    !dwarf_die_address(&attr, ops, count, &address))
		return NULL;
	for (size_t i = 0; i < module->symbol_count; i++)
		if (module->symbols[i].address == address &&
		    module->symbols[i].type == STT_OBJECT)
			return module->symbols[i].name;
	return NULL;
}

const char *dwarf_variable_symbol(Dwarf_Die *die)
{
	const char *name = dwarf_die_linkage(die);
	Dwarf_Die root = dwarf_die_root(die);
	char *path;
	bool plain;

	if (name)
		return name;
	name = dwarf_diename(die);
	path = name ? dwarf_type_name(&root) : NULL;
	plain = path && !strcmp(path, name);
	free(path);
	return plain ? name : NULL;
}

bool dwarf_union_find(Dwarf_Die *die, const char *name,
		      struct dwarf_variable *variable)
{
	Dwarf_Die type, child;

	if (dwarf_tag(die) != DW_TAG_variable || !dwarf_type_of(die, &type) ||
	    dwarf_tag(&type) != DW_TAG_union_type)
		return false;
	for (dwarf_die_child(&type, &child); child.addr;
	     dwarf_die_sibling(&child))
		if (dwarf_tag(&child) == DW_TAG_member &&
		    dwarf_die_is_named(&child, name)) {
			dwarf_variable_fill(variable, die, true);
			return dwarf_type_of(&child, &variable->type);
		}
	return false;
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

bool dwarf_scopes_are_clang(const struct dwarf_scopes *scopes)
{
	Dwarf_Die unit = scopes->unit->die;
	const char *producer = dwarf_die_text(&unit, DW_AT_producer);

	return producer && strstr(producer, "clang");
}

bool dwarf_scope_is_loose(const struct dwarf_scopes *scopes, size_t scope)
{
	return dwarf_scope_is_function(scopes, scope) &&
	       dwarf_scopes_are_clang(scopes);
}

bool dwarf_scope_find(const struct dwarf_scopes *scopes, size_t scope,
		      uint64_t pc, const char *name,
		      struct dwarf_variable *variable)
{
	struct block_search search = {
		.name = name, .pc = pc, .best = variable, .rank = -1,
	};
	Dwarf_Attribute attr;
	bool is_static;
	size_t count;
	Dwarf_Op *ops;
	int tag;

	dwarf_scope_each(scopes, scope, scope_block_take, &search);
	if (search.rank < 0 || !variable->local ||
	    !dwarf_scope_is_loose(scopes, scope))
		return search.rank >= 0;
	/* static: it has one address, or none that is left */
	tag = dwarf_tag(&variable->die);
	is_static = tag == DW_TAG_enumerator || tag == DW_TAG_variable;
	if (tag == DW_TAG_variable &&
	    dwarf_attr_integrate(&variable->die, DW_AT_location, &attr))
		is_static = !dwarf_getlocation(&attr, &ops, &count) &&
			    count == 1 && (ops[0].atom == DW_OP_addr ||
					   ops[0].atom == DW_OP_addrx ||
					   ops[0].atom == DW_OP_GNU_addr_index);
	variable->is_doubtful |= is_static;
	return true;
}

static bool scope_find_lost(Dwarf_Die *block, const char *name,
			    unsigned int depth, const void **last,
			    struct dwarf_variable *variable)
{
	Dwarf_Die child;

	if (depth == DEPTH_MAX)
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

bool dwarf_scope_find_lost(Dwarf_Die *function, const char *name,
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

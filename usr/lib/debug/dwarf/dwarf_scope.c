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

/* Without those that are inlined into scope number `at`. */
static void scopes_cut(struct dwarf_scopes *scopes, size_t at)
{
	for (at++; at < scopes->count; at++)
		if (dwarf_scope_is_function(scopes, at))
			scopes->count = at;
}

/* A copy may have a line in the code of others, and none of its own there. */
static void scopes_go(struct dwarf_scopes *scopes, const void *function)
{
	for (size_t i = 0; i < scopes->count; i++)
		if (scopes->dies[i].addr == function) {
			scopes_cut(scopes, i);
			return;
		}
	for (size_t i = 0; i < scopes->blocks->count; i++)
		if (scopes->blocks->list[i].die.addr == function) {
			scopes_fill(scopes, i);
			return;
		}
}

int dwarf_scopes_find_from(struct dwarf_file *dwarf,
			   const struct dwarf_from *from,
			   struct dwarf_scopes *scopes)
{
	int code = dwarf_scopes_find(dwarf, from->pc, scopes);

	if (code || !scopes->count)
		return code;
	if (from->outermost)
		scopes_cut(scopes, 0);
	else if (from->function)
		scopes_go(scopes, from->function);
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

static int each_child(Dwarf_Die *die,
		      int (*take)(void *context, Dwarf_Die *die),
		      void *context)
{
	Dwarf_Die child;
	int code;

	if (dwarf_child(die, &child))
		return 0;
	do {
		code = dwarf_block_declares(dwarf_tag(&child)) ?
		       take(context, &child) : 0;
	} while (!code && dwarf_die_next(&child));
	return code;
}

int dwarf_scope_each(const struct dwarf_scopes *scopes, size_t scope,
		     int (*take)(void *context, Dwarf_Die *die),
		     void *context)
{
	const struct dwarf_blocks *blocks = scopes->blocks;
	Dwarf_Die at = scopes->dies[scope];
	int code = 0;

	for (uint32_t i = blocks->list[scopes->numbers[scope]].first;
	     i && !code; i = blocks->declarations[i - 1].next) {
		Dwarf_Die die = blocks->declarations[i - 1].die;

		code = take(context, &die);
	}
	for (int i = 0; i < DWARF_ORIGINS_MAX && !code && dwarf_die_origin(&at); i++)
		code = each_child(&at, take, context);
	return code;
}

static bool die_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) &&
	       dwarf_formref_die(&attr, type);
}

void dwarf_variable_fill(struct dwarf_variable *variable, Dwarf_Die *die,
			 bool local)
{
	memset(variable, 0, sizeof(*variable));
	variable->die = *die;
	variable->local = local;
	variable->parameter = dwarf_tag(die) == DW_TAG_formal_parameter;
	if (!die_type(die, &variable->type))
		memset(&variable->type, 0, sizeof(variable->type));
}

bool dwarf_enumerator_find(Dwarf_Die *enumeration, const char *name,
			   struct dwarf_variable *variable)
{
	Dwarf_Die child;

	if (dwarf_child(enumeration, &child))
		return false;
	do {
		const char *own = dwarf_tag(&child) == DW_TAG_enumerator ?
				  dwarf_diename(&child) : NULL;

		if (!own || strcmp(own, name))
			continue;
		memset(variable, 0, sizeof(*variable));
		variable->die = child;
		variable->type = *enumeration;
		return true;
	} while (dwarf_die_next(&child));
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
	Dwarf_Attribute attr, address;
	size_t count;
	Dwarf_Addr at;
	Dwarf_Op *ops;

	if (dwarf_getlocation(dwarf_attr(die, DW_AT_location, &attr), &ops,
			      &count) || count != 1)
		return NULL;
	at = ops[0].number;
	if (ops[0].atom != DW_OP_addr &&
	    (dwarf_getlocation_attr(&attr, ops, &address) ||
	     dwarf_formaddr(&address, &at)))
		return NULL;
	for (size_t i = 0; i < module->symbol_count; i++)
		if (module->symbols[i].address == at &&
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

	if (dwarf_tag(die) != DW_TAG_variable || !die_type(die, &type) ||
	    dwarf_tag(&type) != DW_TAG_union_type ||
	    dwarf_child(&type, &child))
		return false;
	do {
		const char *own = dwarf_diename(&child);

		if (dwarf_tag(&child) != DW_TAG_member || !own ||
		    strcmp(own, name))
			continue;
		dwarf_variable_fill(variable, die, true);
		return die_type(&child, &variable->type);
	} while (dwarf_die_next(&child));
	return false;
}

struct block_search {
	const char *name;
	uint64_t pc;
	struct dwarf_variable *best;
	int rank;		/* -1: none yet */
};

/* A using declaration in a block. */
static void import_take(struct block_search *search, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	Dwarf_Attribute attr;
	Dwarf_Die target;

	if (search->rank >= 0 ||
	    !dwarf_formref_die(dwarf_attr(die, DW_AT_import, &attr), &target))
		return;
	if (!name)
		name = dwarf_diename(&target);
	if (dwarf_tag(&target) == DW_TAG_variable && name &&
	    !strcmp(name, search->name)) {
		dwarf_variable_fill(search->best, &target, false);
		search->rank = 2;
	} else if (dwarf_tag(&target) == DW_TAG_enumeration_type &&
		   dwarf_enumerator_find(&target, search->name, search->best)) {
		search->best->is_doubtful = true;
		search->rank = 2;
	}
}

/* Blocks that the compiler joined leave several of the same name. */
static int block_take(void *context, Dwarf_Die *die)
{
	struct block_search *search = context;
	const char *name = dwarf_diename(die);
	int rank;

	if (dwarf_tag(die) == DW_TAG_imported_declaration) {
		import_take(search, die);
		return 0;
	}
	if (dwarf_tag(die) == DW_TAG_imported_module)
		return 0;
	if (dwarf_tag(die) == DW_TAG_enumeration_type) {
		if (search->rank < 0 &&
		    dwarf_enumerator_find(die, search->name, search->best)) {
			search->best->local = true;
			search->rank = 2;
		}
		return 0;
	}
	if (!name) {
		if (search->rank < 0 &&
		    dwarf_union_find(die, search->name, search->best))
			search->rank = dwarf_variable_rank(die, search->pc);
		return 0;
	}
	if (strcmp(name, search->name))
		return 0;
	rank = dwarf_variable_rank(die, search->pc);
	if (rank > search->rank) {
		search->rank = rank;
		dwarf_variable_fill(search->best, die, true);
	}
	return 0;
}

bool dwarf_scopes_are_clang(const struct dwarf_scopes *scopes)
{
	Dwarf_Die unit = scopes->unit->die;
	Dwarf_Attribute attr;
	const char *producer;

	producer = dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attr));
	return producer && strstr(producer, "clang");
}

bool dwarf_scope_is_loose(const struct dwarf_scopes *scopes, size_t scope)
{
	return dwarf_scope_is_function(scopes, scope) &&
	       dwarf_scopes_are_clang(scopes);
}

/* It has one address, or none that is left. */
static bool is_static(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	size_t count;
	Dwarf_Op *ops;

	if (dwarf_tag(die) == DW_TAG_enumerator)
		return true;
	if (dwarf_tag(die) != DW_TAG_variable)
		return false;
	if (!dwarf_attr_integrate(die, DW_AT_location, &attr))
		return true;
	return !dwarf_getlocation(&attr, &ops, &count) && count == 1 &&
	       (ops[0].atom == DW_OP_addr || ops[0].atom == DW_OP_addrx ||
		ops[0].atom == DW_OP_GNU_addr_index);
}

bool dwarf_scope_find(const struct dwarf_scopes *scopes, size_t scope,
		      uint64_t pc, const char *name,
		      struct dwarf_variable *variable)
{
	struct block_search search = {
		.name = name, .pc = pc, .best = variable, .rank = -1,
	};

	dwarf_scope_each(scopes, scope, block_take, &search);
	if (search.rank >= 0 && variable->local && is_static(&variable->die) &&
	    dwarf_scope_is_loose(scopes, scope))
		variable->is_doubtful = true;
	return search.rank >= 0;
}

static bool find_lost(Dwarf_Die *block, const char *name, unsigned int depth,
		      const void **last, struct dwarf_variable *variable)
{
	Dwarf_Die child;

	if (depth == DEPTH_MAX || dwarf_child(block, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);
		const char *own;

		if (child.addr <= *last)
			return false;
		*last = child.addr;
		own = tag == DW_TAG_variable ? dwarf_diename(&child) : NULL;
		if (own && !strcmp(own, name) &&
		    !dwarf_variable_rank(&child, 0) &&
		    !dwarf_hasattr(&child, DW_AT_declaration)) {
			dwarf_variable_fill(variable, &child, true);
			return true;
		}
		if (dwarf_block_is_one(tag) && !dwarf_die_has_code(&child) &&
		    find_lost(&child, name, depth + 1, last, variable))
			return true;
	} while (dwarf_die_next(&child));
	return false;
}

bool dwarf_scope_find_lost(Dwarf_Die *function, const char *name,
			   struct dwarf_variable *variable)
{
	Dwarf_Die at = *function;

	for (int i = 0; i <= DWARF_ORIGINS_MAX; i++) {
		const void *last = NULL;

		if (find_lost(&at, name, 0, &last, variable))
			return true;
		if (!dwarf_die_origin(&at))
			break;
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0
#include "dwarf_call.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "dwarf_scope.h"

#define DEPTH_MAX	64
#define CHAIN_MAX	32	/* functions that one may jump to in turn */
#define INFO_MAX	(32 << 20)	/* bytes of entries that are all read */

struct walk {
	struct call_table *table;
	Dwarf_Die function;	/* the innermost one with code */
	const void *last;	/* entry visited: damaged siblings go back */
};

static const void *root_address(Dwarf_Die *die)
{
	return dwarf_die_root(die).addr;
}

static const char *external_name(Dwarf_Die *die)
{
	return dwarf_die_flag(die, DW_AT_external) ?
	       dwarf_variable_symbol(die) : NULL;
}

static bool tells_jumps(Dwarf_Die *function)
{
	return dwarf_die_flag(function, DW_AT_call_all_calls) ||
	       dwarf_die_flag(function, DW_AT_call_all_tail_calls) ||
	       dwarf_die_flag(function, DW_AT_GNU_all_call_sites) ||
	       dwarf_die_flag(function, DW_AT_GNU_all_tail_call_sites);
}

static bool call_target(Dwarf_Die *site, Dwarf_Die *target)
{
	Dwarf_Attribute attr;

	return (dwarf_attr(site, DW_AT_call_origin, &attr) ||
		dwarf_attr(site, DW_AT_abstract_origin, &attr)) &&
	       dwarf_formref_die(&attr, target);
}

static uint64_t call_return(Dwarf_Die *site)
{
	Dwarf_Attribute attr;
	Dwarf_Addr at = 0;

	if ((!dwarf_attr(site, DW_AT_call_return_pc, &attr) &&
	     !dwarf_attr(site, DW_AT_low_pc, &attr)) ||
	    dwarf_formaddr(&attr, &at))
		return 0;
	return at;
}

static void walk_call(struct walk *walk, Dwarf_Die *site)
{
	struct call_table *table = walk->table;
	struct call *call;
	Dwarf_Die target;

	if (!walk->function.addr)
		return;
	if (!array_grow(&table->calls, table->count, &table->room,
			sizeof(*call))) {
		table->failed = true;
		return;
	}
	call = &table->calls[table->count++];
	*call = (struct call){
		.caller = root_address(&walk->function),
		.function = walk->function, .site = *site,
		.return_pc = call_return(site),
		.tail = dwarf_die_flag(site, DW_AT_call_tail_call) ||
			dwarf_die_flag(site, DW_AT_GNU_tail_call),
	};
	if (!call_target(site, &target))
		return;
	call->callee = root_address(&target);
	call->callee_name = external_name(&target);
}

static void walk_function(struct walk *walk, Dwarf_Die *die)
{
	struct call_table *table = walk->table;

	if (!array_grow(&table->functions, table->function_count,
			&table->function_room, sizeof(*table->functions))) {
		table->failed = true;
		return;
	}
	table->functions[table->function_count++] = (struct call_function){
		.key = root_address(die), .name = external_name(die),
		.complete = tells_jumps(die),
	};
}

/* Calls are entries in functions, their blocks and inlined functions. */
static void walk_children(struct walk *walk, Dwarf_Die *die, unsigned int depth)
{
	Dwarf_Die function = walk->function, child;

	if (depth == DEPTH_MAX || dwarf_child(die, &child))
		return;
	do {
		if (child.addr <= walk->last || walk->table->failed)
			return;
		walk->last = child.addr;
		switch (dwarf_tag(&child)) {
		case DW_TAG_call_site:
		case DW_TAG_GNU_call_site:
			walk_call(walk, &child);
			break;
		case DW_TAG_subprogram:
			if (!dwarf_die_has_code(&child))
				break;
			walk_function(walk, &child);
			walk->function = child;
			walk_children(walk, &child, depth + 1);
			walk->function = function;
			break;
		case DW_TAG_namespace:
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
			walk_children(walk, &child, depth + 1);
		}
	} while (dwarf_die_next(&child));
}

static int name_compare(const void *a, const void *b)
{
	const struct call_function *x = a, *y = b;

	if (!x->name || !y->name)
		return !y->name - !x->name;
	return strcmp(x->name, y->name);
}

static int key_compare(const void *a, const void *b)
{
	const struct call_function *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static int call_compare(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return (x->return_pc > y->return_pc) - (x->return_pc < y->return_pc);
}

/* A declaration of an external function stands for its definition. */
static void table_resolve(struct call_table *table)
{
	size_t size = sizeof(*table->functions);

	if (!table->count || !table->function_count)
		return;
	qsort(table->functions, table->function_count, size, name_compare);
	for (size_t i = 0; i < table->count; i++) {
		struct call *call = &table->calls[i];
		struct call_function key = { .name = call->callee_name };
		struct call_function *found;

		found = key.name ? bsearch(&key, table->functions,
					   table->function_count, size,
					   name_compare) : NULL;
		if (found)
			call->callee = found->key;
	}
	qsort(table->functions, table->function_count, size, key_compare);
	qsort(table->calls, table->count, sizeof(*table->calls), call_compare);
}

static void table_add(struct call_table *table, const struct unit *unit)
{
	struct walk walk = { .table = table };
	Dwarf_Die die = unit->die;

	walk_children(&walk, &die, 0);
}

bool dwarf_calls_are_many(struct dwarf_file *dwarf)
{
	const uint8_t *data;
	size_t size;

	return dwarf_section_read(dwarf, ".debug_info", &data, &size) &&
	       size > INFO_MAX;
}

static void table_add_all(struct call_table *table, struct dwarf_file *dwarf)
{
	Dwarf_CU *position = NULL;
	struct unit *unit;

	while ((unit = dwarf_unit_next(dwarf, &position, &table->failed)))
		table_add(table, unit);
}

/* Of one unit, or with NULL of all. */
static struct call_table *table_make(struct dwarf_file *dwarf,
				     struct unit *unit)
{
	struct call_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	if (unit)
		table_add(table, unit);
	else
		table_add_all(table, dwarf);
	if (table->failed) {
		dwarf_calls_free(table);
		return NULL;
	}
	table_resolve(table);
	return table;
}

int dwarf_calls_whole(struct dwarf_file *dwarf, const struct call_table **table)
{
	*table = NULL;
	if (dwarf_calls_are_many(dwarf))
		return 0;
	if (!dwarf->calls)
		dwarf->calls = table_make(dwarf, NULL);
	*table = dwarf->calls;
	return *table ? 0 : -ENOMEM;
}

const struct call_table *dwarf_calls_get(struct dwarf_file *dwarf,
					 struct unit *unit)
{
	const struct call_table *whole;

	if (dwarf_calls_whole(dwarf, &whole))
		return NULL;
	if (whole)
		return whole;
	if (!unit->calls)
		unit->calls = table_make(dwarf, unit);
	return unit->calls;
}

void dwarf_calls_free(struct call_table *table)
{
	if (!table)
		return;
	free(table->calls);
	free(table->functions);
	free(table);
}

/* The first of the callee's. */
static size_t table_search(const struct call_table *table, const void *callee)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->calls[middle].callee < callee)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct call *dwarf_calls_of(const struct call_table *table,
				  Dwarf_Die *function, size_t *count)
{
	const void *callee = root_address(function);
	size_t first = table_search(table, callee);

	*count = 0;
	while (first + *count < table->count &&
	       table->calls[first + *count].callee == callee)
		++*count;
	return table->calls + first;
}

struct chain {
	const void *functions[CHAIN_MAX];
	size_t count;
};

/* False: the chain got too long. */
static bool chain_add(struct chain *chain, const void *function)
{
	for (size_t i = 0; i < chain->count; i++)
		if (chain->functions[i] == function)
			return true;
	if (chain->count == CHAIN_MAX)
		return false;
	chain->functions[chain->count++] = function;
	return true;
}

/* Add what it jumps to. False: that isn't known, or is the first one. */
static bool chain_follow(const struct call_table *table, struct chain *chain,
			 const void *function)
{
	struct call_function key = { .key = function }, *found;

	found = table->function_count ?
		bsearch(&key, table->functions, table->function_count,
			sizeof(key), key_compare) : NULL;
	if (!found || !found->complete)
		return false;
	for (size_t i = 0; i < table->count; i++) {
		const struct call *call = &table->calls[i];

		if (call->caller == function && call->tail &&
		    (!call->callee || call->callee == chain->functions[0] ||
		     !chain_add(chain, call->callee)))
			return false;
	}
	return true;
}

bool dwarf_call_repeats(const struct call_table *table, Dwarf_Die *function)
{
	struct chain chain = { { root_address(function) }, 1 };

	for (size_t i = 0; i < chain.count; i++)
		if (!chain_follow(table, &chain, chain.functions[i]))
			return true;
	return false;
}

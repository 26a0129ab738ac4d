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

struct call_walk {
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

/* Its jumps to other functions have entries. */
static bool has_jumps(Dwarf_Die *function)
{
	return dwarf_die_flag(function, DW_AT_call_all_calls) ||
	       dwarf_die_flag(function, DW_AT_call_all_tail_calls) ||
	       dwarf_die_flag(function, DW_AT_GNU_all_call_sites) ||
	       dwarf_die_flag(function, DW_AT_GNU_all_tail_call_sites);
}

static void walk_call(struct call_walk *walk, Dwarf_Die *site)
{
	struct call_table *table = walk->table;
	struct call *call;
	Dwarf_Attribute attr;
	Dwarf_Die target;
	Dwarf_Addr at;

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
		.tail = dwarf_die_flag(site, DW_AT_call_tail_call) ||
			dwarf_die_flag(site, DW_AT_GNU_tail_call),
	};
	if ((dwarf_attr(site, DW_AT_call_return_pc, &attr) ||
	     dwarf_attr(site, DW_AT_low_pc, &attr)) &&
	    !dwarf_formaddr(&attr, &at))
		call->return_pc = at;
	if ((dwarf_attr(site, DW_AT_call_origin, &attr) ||
	     dwarf_attr(site, DW_AT_abstract_origin, &attr)) &&
	    dwarf_formref_die(&attr, &target)) {
		call->callee = root_address(&target);
		call->callee_name = external_name(&target);
	}
}

/* Calls are entries in functions, their blocks and inlined functions. */
static void walk_calls(struct call_walk *walk, Dwarf_Die *die,
		       unsigned int depth)
{
	struct call_table *table = walk->table;
	Dwarf_Die function = walk->function, child;

	if (depth == DEPTH_MAX)
		return;
	for (dwarf_die_child(die, &child);
	     child.addr > walk->last && !table->failed;
	     dwarf_die_sibling(&child)) {
		walk->last = child.addr;
		switch (dwarf_tag(&child)) {
		case DW_TAG_call_site:
		case DW_TAG_GNU_call_site:
			walk_call(walk, &child);
			break;
		case DW_TAG_subprogram:
			if (!dwarf_die_has_code(&child))
				break;
			if (!array_grow(&table->functions,
					table->function_count,
					&table->function_room,
					sizeof(*table->functions))) {
				table->failed = true;
				return;
			}
			table->functions[table->function_count++] =
				(struct call_function){
					.key = root_address(&child),
					.name = external_name(&child),
					.complete = has_jumps(&child),
				};
			walk->function = child;
			walk_calls(walk, &child, depth + 1);
			walk->function = function;
			break;
		case DW_TAG_namespace:
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
			walk_calls(walk, &child, depth + 1);
		}
	}
}

static int call_name_compare(const void *a, const void *b)
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

bool dwarf_calls_are_many(struct dwarf_file *dwarf)
{
	struct dwarf_bytes info;

	dwarf_section_read(dwarf, ".debug_info", &info);
	return info.size > INFO_MAX;
}

/* Of one unit, or with NULL of all */
static struct call_table *table_make(struct dwarf_file *dwarf,
				     struct unit *unit)
{
	struct call_table *table = calloc(1, sizeof(*table));
	size_t size = sizeof(*table->functions);
	Dwarf_CU *position = NULL;
	bool all = !unit;

	if (!table)
		return NULL;
	if (all)
		unit = dwarf_unit_next(dwarf, &position, &table->failed);
	while (unit) {
		struct call_walk walk = { .table = table };
		Dwarf_Die die = unit->die;

		walk_calls(&walk, &die, 0);
		unit = all ? dwarf_unit_next(dwarf, &position, &table->failed) :
			     NULL;
	}
	if (table->failed) {
		dwarf_calls_free(table);
		return NULL;
	}
	if (!table->count || !table->function_count)
		return table;
	/* A call of a declaration is one of the external function's definition. */
	qsort(table->functions, table->function_count, size,
	      call_name_compare);
	for (size_t i = 0; i < table->count; i++) {
		struct call *call = &table->calls[i];
		struct call_function key = { .name = call->callee_name };
		struct call_function *found;

		found = key.name ? bsearch(&key, table->functions,
					   table->function_count, size,
					   call_name_compare) : NULL;
		if (found)
			call->callee = found->key;
	}
	qsort(table->functions, table->function_count, size, key_compare);
	qsort(table->calls, table->count, sizeof(*table->calls), call_compare);
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

const struct call *dwarf_calls_of(const struct call_table *table,
				  Dwarf_Die *function, size_t *count)
{
	const void *callee = root_address(function);
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->calls[middle].callee < callee)
			low = middle + 1;
		else
			high = middle;
	}
	*count = 0;
	while (low + *count < table->count &&
	       table->calls[low + *count].callee == callee)
		++*count;
	return table->calls + low;
}

/* Follow the jumps from function to function. */
bool dwarf_call_repeats(const struct call_table *table, Dwarf_Die *function)
{
	const void *chain[CHAIN_MAX] = { root_address(function) };
	size_t count = 1;

	for (size_t i = 0; i < count; i++) {
		struct call_function key = { .key = chain[i] }, *found;

		found = table->function_count ?
			bsearch(&key, table->functions, table->function_count,
				sizeof(key), key_compare) : NULL;
		if (!found || !found->complete)
			return true;
		for (size_t k = 0; k < table->count; k++) {
			const struct call *call = &table->calls[k];
			size_t known = 0;

			if (call->caller != chain[i] || !call->tail)
				continue;
			while (known < count && chain[known] != call->callee)
				known++;
			if (!call->callee || !known || known == CHAIN_MAX)
				return true;
			if (known == count)
				chain[count++] = call->callee;
		}
	}
	return false;
}

bool dwarf_call_value_find(const struct call_argument *argument,
			   Dwarf_Die *site, Dwarf_Attribute *value)
{
	Dwarf_Die child;

	for (dwarf_die_child(site, &child); child.addr;
	     dwarf_die_sibling(&child)) {
		Dwarf_Attribute attr;
		unsigned int number;
		Dwarf_Die parameter;
		size_t count;
		Dwarf_Op *ops;
		bool found;

		if (dwarf_tag(&child) != DW_TAG_call_site_parameter &&
		    dwarf_tag(&child) != DW_TAG_GNU_call_site_parameter)
			continue;
		if (argument->parameter)
			found = (dwarf_attr(&child, DW_AT_call_parameter,
					    &attr) ||
				 dwarf_attr(&child, DW_AT_abstract_origin,
					    &attr)) &&
				dwarf_formref_die(&attr, &parameter) &&
				dwarf_die_root(&parameter).addr ==
					argument->parameter;
		else
			found = dwarf_attr(&child, DW_AT_location, &attr) &&
				!dwarf_getlocation(&attr, &ops, &count) &&
				count == 1 &&
				dwarf_op_register(ops, &number) &&
				number == argument->number;
		if (found)
			return dwarf_attr(&child, DW_AT_call_value, value) ||
			       dwarf_attr(&child, DW_AT_GNU_call_site_value,
					  value);
	}
	return false;
}

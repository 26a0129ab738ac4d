// SPDX-License-Identifier: GPL-2.0
#include "dwarf_call.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "dwarf_scope.h"

#define CHAIN_MAX	32	/* functions that one may jump to in turn */
#define INFO_MAX	(32 << 20)	/* bytes of entries that are all read */

static uint64_t root_key(Dwarf_Die *die)
{
	return key_map_key(dwarf_die_root(die).addr);
}

static const char *external_name(Dwarf_Die *die)
{
	return dwarf_die_flag(die, DW_AT_external) ?
	       dwarf_variable_symbol(die) : NULL;
}

static int call_take(struct dwarf_walk *walk, Dwarf_Die *die, int tag)
{
	struct call_table *table = walk->context;
	Dwarf_Die caller = walk->function, target;
	struct call_function *function;
	Dwarf_Attribute attr;
	struct call *call;
	Dwarf_Addr at;

	if (tag == DW_TAG_inlined_subroutine || !caller.addr)
		return 0;
	if (tag == DW_TAG_subprogram) {
		if (!array_grow(&table->functions, table->function_count,
				&table->function_room, sizeof(*function)))
			return -ENOMEM;
		function = &table->functions[table->function_count++];
		function->key = root_key(die);
		function->name = external_name(die);
		/* its jumps to other functions have entries */
		function->complete =
			dwarf_die_flag(die, DW_AT_call_all_calls) ||
			dwarf_die_flag(die, DW_AT_call_all_tail_calls) ||
			dwarf_die_flag(die, DW_AT_GNU_all_call_sites) ||
			dwarf_die_flag(die, DW_AT_GNU_all_tail_call_sites);
		return 0;
	}
	if (!array_grow(&table->calls, table->count, &table->room,
			sizeof(*call)))
		return -ENOMEM;
	call = &table->calls[table->count++];
	*call = (struct call){
		.caller = root_key(&caller), .function = caller, .site = *die,
		.tail = dwarf_die_flag(die, DW_AT_call_tail_call) ||
			dwarf_die_flag(die, DW_AT_GNU_tail_call),
	};
	if ((dwarf_attr(die, DW_AT_call_return_pc, &attr) ||
	     dwarf_attr(die, DW_AT_low_pc, &attr)) &&
	    !dwarf_formaddr(&attr, &at))
		call->return_pc = at;
	if (dwarf_die_refer(die, DW_AT_call_origin, &target) ||
	    dwarf_die_refer(die, DW_AT_abstract_origin, &target)) {
		call->callee = root_key(&target);
		call->callee_name = external_name(&target);
	}
	return 0;
}

static int call_name_compare(const void *a, const void *b)
{
	const struct call_function *x = a, *y = b;

	if (!x->name || !y->name)
		return !y->name - !x->name;
	return strcmp(x->name, y->name);
}

static int call_compare(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return (x->return_pc > y->return_pc) - (x->return_pc < y->return_pc);
}

static bool calls_are_many(struct dwarf_file *dwarf)
{
	struct dwarf_bytes info;

	dwarf_section_read(dwarf, ".debug_info", &info);
	return info.size > INFO_MAX;
}

static void calls_free(void *value)
{
	struct call_table *table = value;

	free(table->calls);
	free(table->functions);
	free(table);
}

/* A call of a declaration is one of the external function's definition. */
static void calls_resolve(struct call_table *table)
{
	size_t size = sizeof(*table->functions);

	if (!table->count || !table->function_count)
		return;
	qsort(table->functions, table->function_count, size, call_name_compare);
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
	qsort(table->functions, table->function_count, size, array_compare);
	qsort(table->calls, table->count, sizeof(*table->calls), call_compare);
}

/* Of one unit, or with NULL of all */
static const struct call_table *calls_get(struct dwarf_file *dwarf,
					  struct unit *unit)
{
	struct dwarf_walk walk = { .take = call_take, .calls = true };
	const void *key = unit ? unit->die.addr : NULL;
	struct call_table *table = dwarf_memo_find(dwarf, DWARF_CALLS, key);
	int code;

	if (table)
		return table;
	walk.context = table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	code = unit ? dwarf_walk_unit(&walk, &unit->die) :
		      dwarf_walk_all(&walk, dwarf);
	if (code) {
		calls_free(table);
		return NULL;
	}
	calls_resolve(table);
	return dwarf_memo_add(dwarf, DWARF_CALLS, key, table, calls_free);
}

int dwarf_calls_whole(struct dwarf_file *dwarf, const struct call_table **table)
{
	bool many = calls_are_many(dwarf);

	*table = many ? NULL : calls_get(dwarf, NULL);
	return many || *table ? 0 : -ENOMEM;
}

const struct call_table *dwarf_calls_get(struct dwarf_file *dwarf,
					 struct unit *unit)
{
	return calls_get(dwarf, calls_are_many(dwarf) ? unit : NULL);
}

const struct call *dwarf_calls_of(const struct call_table *table,
				  Dwarf_Die *function, size_t *count)
{
	uint64_t callee = root_key(function);
	size_t low = array_count_upto(table->calls, table->count,
				      sizeof(*table->calls), callee - 1);

	*count = 0;
	while (low + *count < table->count &&
	       table->calls[low + *count].callee == callee)
		++*count;
	return table->calls + low;
}

/* Follow the jumps from function to function. */
bool dwarf_call_repeats(const struct call_table *table, Dwarf_Die *function)
{
	uint64_t chain[CHAIN_MAX] = { root_key(function) };
	size_t count = 1;

	for (size_t i = 0; i < count; i++) {
		struct call_function key = { .key = chain[i] }, *found;

		found = table->function_count ?
			bsearch(&key, table->functions, table->function_count,
				sizeof(key), array_compare) : NULL;
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

	dwarf_die_each(site, &child) {
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
				count == 1 && dwarf_op_register(ops, &number) &&
				number == argument->number;
		if (found)
			return dwarf_attr(&child, DW_AT_call_value, value) ||
			       dwarf_attr(&child, DW_AT_GNU_call_site_value,
					  value);
	}
	return false;
}

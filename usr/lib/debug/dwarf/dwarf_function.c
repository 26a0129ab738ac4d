// SPDX-License-Identifier: GPL-2.0
#include "dwarf_function.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/debug/module/module.h"
#include "dwarf_die.h"
#include "dwarf_line.h"
#include "dwarf_names.h"
#include "dwarf_scope.h"
#include "dwarf_walk.h"

#define NESTING_MAX	64	/* of namespaces and classes */
#define NAME_MAX_BYTES	4096

static int function_range_compare(const void *a, const void *b)
{
	const struct module_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int dwarf_function_read(struct dwarf_file *dwarf, Dwarf_Die *die,
			struct dwarf_function *function)
{
	struct dwarf_scopes scopes;
	Dwarf_Addr base, start, end;
	size_t room = 0, available;
	ptrdiff_t at = 0;
	uint64_t entry;
	int code;

	*function = (struct dwarf_function) {
		.die = *die,
		.inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine,
	};
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		/* what the linker left out has addresses that are none of code */
		if (start >= end ||
		    !module_code(dwarf->module, start, &available, NULL))
			continue;
		if (end - start > available)
			end = start + available;
		if (!array_grow(&function->ranges, function->range_count,
				&room, sizeof(*function->ranges))) {
			free(function->ranges);
			return -ENOMEM;
		}
		function->ranges[function->range_count++] =
			(struct module_range) { start, end };
	}
	if (function->range_count) {
		function->entry = function->ranges[0].start;
		entry = dwarf_die_entry(die, function->entry);
		if (module_ranges_have(function->ranges, function->range_count,
				       entry))
			function->entry = entry;
		qsort(function->ranges, function->range_count,
		      sizeof(*function->ranges), function_range_compare);
		return 1;
	}
	/* When gcc joins all code of a copy with the code around it, the copy
	 * has no bytes left, but its entry is known. */
	function->entry = dwarf_die_entry(die, 0);
	if (!function->inlined || !function->entry)
		return 0;
	code = dwarf_scopes_find(dwarf, function->entry, &scopes);
	if (code || !scopes.count)
		return code == -ENOMEM ? code : 0;
	for (size_t i = 0; i < scopes.blocks->count; i++)
		if (scopes.blocks->list[i].die.addr == die->addr)
			return 1;
	return 0;
}

int dwarf_functions_add(struct dwarf_file *dwarf,
			struct dwarf_functions *list, Dwarf_Die *die)
{
	struct dwarf_function function;
	int code = dwarf_function_read(dwarf, die, &function);

	if (code <= 0)
		return code;
	if (!array_grow(&list->functions, list->count, &list->room,
			sizeof(*list->functions))) {
		free(function.ranges);
		return -ENOMEM;
	}
	list->functions[list->count++] = function;
	return 0;
}

int dwarf_function_at(struct dwarf_file *dwarf, uint64_t address,
		      struct dwarf_functions *found)
{
	struct dwarf_scopes scopes;
	int code = dwarf_scopes_find(dwarf, address, &scopes);

	*found = (struct dwarf_functions) {0};
	if (code == -ENOMEM || !scopes.count)
		return code == -ENOMEM ? code : 0;
	return dwarf_functions_add(dwarf, found, &scopes.dies[0]);
}

void dwarf_functions_free(struct dwarf_functions *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->functions[i].ranges);
	free(found->functions);
	*found = (struct dwarf_functions) {0};
}

/* A copy that begins with another copy has the same entry: one with code goes
 * first, of further entries that of the inner one. */
static int dwarf_function_compare(const void *a, const void *b)
{
	const struct dwarf_function *x = a, *y = b;

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	if (!x->range_count != !y->range_count)
		return x->range_count ? -1 : 1;
	if (x->again && y->again)
		return (const char *)x->die.addr > (const char *)y->die.addr ?
			       -1 : 1;
	return ((const char *)x->die.addr > (const char *)y->die.addr) -
	       ((const char *)x->die.addr < (const char *)y->die.addr);
}

struct function_find {
	struct dwarf_file *dwarf;
	struct dwarf_functions *found;
};

static int find_take(void *context, Dwarf_Die *die)
{
	struct function_find *find = context;

	return dwarf_functions_add(find->dwarf, find->found, die);
}

static bool function_is_inside(const struct dwarf_function *function,
		      const struct dwarf_function *outer)
{
	return outer->die.addr < function->die.addr &&
	       outer->die.cu == function->die.cu &&
	       module_ranges_have(outer->ranges, outer->range_count,
				  function->entry);
}

/*
 * gcc splits a function in two (partial inlining) where the first part calls
 * the second one: a call at the function's own declaration. Where that has been
 * inlined as well there is a copy inside a copy, for one call.
 */
static bool is_second_part(const struct dwarf_functions *found, size_t i)
{
	const struct dwarf_function *copy = &found->functions[i];
	Dwarf_Die die = copy->die;
	uint64_t called, declared;

	if (!copy->inlined ||
	    !dwarf_die_any_number(&die, DW_AT_call_line, &called) ||
	    !dwarf_die_any_number(&die, DW_AT_decl_line, &declared) ||
	    called != declared)
		return false;
	if (dwarf_die_any_number(&die, DW_AT_call_column, &called) &&
	    dwarf_die_any_number(&die, DW_AT_decl_column, &declared) &&
	    called != declared)
		return false;
	for (size_t k = 0; k < found->count; k++)
		if (function_is_inside(copy, &found->functions[k]))
			return true;
	return false;
}

struct function_entries {
	struct dwarf_functions *found;
	const bool *second;	/* by number: it is a second part */
	size_t count;		/* of functions, and these */
	size_t copy;
	bool begun;		/* its entry is marked */
};

static int entry_take(void *context, uint64_t address)
{
	struct function_entries *e = context;
	struct dwarf_functions *found = e->found;
	struct dwarf_function copy = found->functions[e->copy];

	if (address == copy.entry) {
		e->begun = true;
		return 0;
	}
	/* not where the second part of the copy is entered */
	for (size_t i = 0; i < e->count; i++) {
		const struct dwarf_function *other = &found->functions[i];
		Dwarf_Die second = other->die;

		if (e->second[i] && function_is_inside(other, &copy) &&
		    (dwarf_die_entry(&second, other->entry) == address ||
		     module_ranges_have(other->ranges, other->range_count,
					address)))
			return 0;
	}
	if (!array_grow(&found->functions, found->count, &found->room,
			sizeof(*found->functions)))
		return -ENOMEM;
	found->functions[found->count++] = (struct dwarf_function) {
		.die = copy.die, .inlined = true, .again = true,
		.entry = address,
	};
	return 0;
}

/* gcc marks where a copy is entered as a statement at the function's
 * declaration: more than once where an optimiser has copied its beginning. */
static int entries_add(struct dwarf_file *dwarf, struct function_entries *e)
{
	struct dwarf_functions *found = e->found;
	struct dwarf_function copy = found->functions[e->copy];
	const char *file = dwarf_line_decl_file(&copy.die);
	size_t before = found->count;
	uint64_t line, column;
	bool known = file &&
		dwarf_die_any_number(&copy.die, DW_AT_decl_line, &line) &&
		dwarf_die_any_number(&copy.die, DW_AT_decl_column, &column);
	int code = 0;

	e->begun = false;
	for (size_t i = 0; i < copy.range_count && !code && known; i++)
		code = dwarf_line_each(dwarf, &copy.ranges[i], file, line,
				       column, entry_take, e);
	if (!e->begun)
		found->count = before;
	found->functions[e->copy].vague = !e->begun && copy.range_count > 1;
	return code;
}

/* One for each place where a call is entered, and no others. */
static int settle_copies(struct dwarf_file *dwarf,
			 struct dwarf_functions *found)
{
	bool *second = calloc(found->count, sizeof(*second));
	struct function_entries e = { found, second, .count = found->count };
	size_t kept = 0;
	int code = 0;

	if (!second)
		return -ENOMEM;
	for (size_t i = 0; i < e.count; i++)
		second[i] = is_second_part(found, i);
	for (; e.copy < e.count && !code; e.copy++)
		if (found->functions[e.copy].inlined && !second[e.copy])
			code = entries_add(dwarf, &e);
	for (size_t i = 0; i < found->count; i++)
		if (i < e.count && second[i])
			free(found->functions[i].ranges);
		else
			found->functions[kept++] = found->functions[i];
	found->count = kept;
	free(second);
	return code;
}

int dwarf_function_find(struct dwarf_file *dwarf, const char *name,
			const char *file, struct dwarf_functions *found)
{
	struct function_find find = { dwarf, found };
	int code;

	*found = (struct dwarf_functions) {0};
	code = dwarf_names_find(dwarf, name, file, find_take, &find);
	if (!code && found->count)
		code = settle_copies(dwarf, found);
	if (!code && found->count)
		qsort(found->functions, found->count,
		      sizeof(*found->functions), dwarf_function_compare);
	if (code)
		dwarf_functions_free(found);
	return code;
}

struct function_each {
	struct dwarf_file *dwarf;
	int (*take)(void *context, const char *name,
		    const struct dwarf_function *function);
	void *context;
};

static int each_take(struct dwarf_walk *walk, Dwarf_Die *die, int tag)
{
	struct function_each *each = walk->context;
	struct dwarf_function function;
	char *name = NULL;
	int code = 0;

	if (tag == DW_TAG_subprogram)
		code = dwarf_function_read(each->dwarf, die, &function);
	if (code <= 0)
		return code;
	name = dwarf_function_name(die);
	code = name ? each->take(each->context, name, &function) : 0;
	free(name);
	free(function.ranges);
	return code;
}

int dwarf_function_each(struct dwarf_file *dwarf,
			int (*take)(void *context, const char *name,
				    const struct dwarf_function *function),
			void *context)
{
	struct function_each each = { dwarf, take, context };
	struct dwarf_walk walk = { .take = each_take, .context = &each };

	return dwarf_walk_all(&walk, dwarf);
}

char *dwarf_function_name(Dwarf_Die *die)
{
	const char *linkage = dwarf_die_linkage(die), *name;
	char *full = linkage ? demangle_symbol(linkage) : NULL;
	char text[NAME_MAX_BYTES] = "";
	Dwarf_Die root, at;
	size_t length = 0;

	if (full) {
		full[demangle_plain_length(full)] = '\0';
		return full;
	}
	root = dwarf_die_root(die);
	name = dwarf_diename(&root);
	if (!name || !dwarf_diecu(&root, &at, NULL, NULL))
		return NULL;
	if (dwarf_die_is_c(&at))
		return strdup(name);
	/* by the namespaces and classes around the declaration */
	for (int i = 0; i < NESTING_MAX && dwarf_die_enter(&at, root.addr) &&
			at.addr != root.addr; i++) {
		const char *scope = dwarf_diename(&at);

		switch (dwarf_tag(&at)) {
		case DW_TAG_namespace:
			if (!scope)
				scope = "(anonymous namespace)";
			break;
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_interface_type:
			break;
		default:
			continue;
		}
		if (scope && length < sizeof(text))
			length += snprintf(text + length, sizeof(text) - length,
					   "%s::", scope);
	}
	if (length < sizeof(text))
		snprintf(text + length, sizeof(text) - length, "%s", name);
	return strdup(text);
}

// SPDX-License-Identifier: GPL-2.0
#include "dwarf_function.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../lib/array.h"
#include "../module/demangle.h"
#include "dwarf_die.h"
#include "dwarf_names.h"
#include "dwarf_scope.h"
#include "dwarf_walk.h"

#define NESTING_MAX	64	/* of namespaces and classes */
#define NAME_MAX_BYTES	4096

/* What the linker left out has addresses that are none of code. */
static int range_add(struct dwarf_file *dwarf, struct dwarf_function *function,
		     size_t *room, uint64_t start, uint64_t end)
{
	size_t available;

	if (start >= end ||
	    !module_code(dwarf->module, start, &available, NULL))
		return 0;
	if (end - start > available)
		end = start + available;
	if (!array_grow(&function->ranges, function->range_count, room,
			sizeof(*function->ranges)))
		return -ENOMEM;
	function->ranges[function->range_count++] =
		(struct module_range) { start, end };
	return 0;
}

static int range_compare(const void *a, const void *b)
{
	const struct module_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* What gcc joins with the code around a copy isn't the copy's any more: it may
 * have no bytes left, but says where it is entered. 1, 0, -ENOMEM. */
static int copy_read(struct dwarf_file *dwarf, struct dwarf_function *function)
{
	struct dwarf_scopes scopes;
	int code;

	function->entry = dwarf_die_entry(&function->die, 0);
	if (!function->inlined || !function->entry)
		return 0;
	code = dwarf_scopes_find(dwarf, function->entry, &scopes);
	if (code || !scopes.count)
		return code == -ENOMEM ? code : 0;
	for (size_t i = 0; i < scopes.blocks->count; i++)
		if (scopes.blocks->list[i].die.addr == function->die.addr)
			return 1;
	return 0;
}

int dwarf_function_read(struct dwarf_file *dwarf, Dwarf_Die *die,
			struct dwarf_function *function)
{
	Dwarf_Addr base, start, end;
	uint64_t entry;
	ptrdiff_t at = 0;
	size_t room = 0;

	*function = (struct dwarf_function) {
		.die = *die,
		.inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine,
	};
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (range_add(dwarf, function, &room, start, end)) {
			free(function->ranges);
			return -ENOMEM;
		}
	}
	if (!function->range_count)
		return copy_read(dwarf, function);
	function->entry = function->ranges[0].start;
	entry = dwarf_die_entry(die, function->entry);
	if (module_ranges_have(function->ranges, function->range_count,
			       entry))
		function->entry = entry;
	qsort(function->ranges, function->range_count,
	      sizeof(*function->ranges), range_compare);
	return 1;
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
 * first. */
static int function_compare(const void *a, const void *b)
{
	const struct dwarf_function *x = a, *y = b;

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	if (!x->range_count != !y->range_count)
		return x->range_count ? -1 : 1;
	return ((const char *)x->die.addr > (const char *)y->die.addr) -
	       ((const char *)x->die.addr < (const char *)y->die.addr);
}

struct find {
	struct dwarf_file *dwarf;
	struct dwarf_functions *found;
};

static int find_take(void *context, Dwarf_Die *die)
{
	struct find *find = context;

	return dwarf_functions_add(find->dwarf, find->found, die);
}

int dwarf_function_find(struct dwarf_file *dwarf, const char *name,
			const char *file, struct dwarf_functions *found)
{
	struct find find = { dwarf, found };
	int code;

	*found = (struct dwarf_functions) {0};
	code = dwarf_names_find(dwarf, name, file, find_take, &find);
	if (code)
		dwarf_functions_free(found);
	else if (found->count)
		qsort(found->functions, found->count,
		      sizeof(*found->functions), function_compare);
	return code;
}

struct each {
	struct dwarf_file *dwarf;
	int (*take)(void *context, const char *name,
		    const struct dwarf_function *function);
	void *context;
};

static int each_take(struct dwarf_walk *walk, Dwarf_Die *die, int tag)
{
	struct each *each = walk->context;
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
	struct each each = { dwarf, take, context };
	struct dwarf_walk walk = { .take = each_take, .context = &each };

	return dwarf_walk_all(&walk, dwarf);
}

static const char *scope_name(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
		return name ? name : "(anonymous namespace)";
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		return name;
	}
	return NULL;
}

/* By the namespaces and classes around the declaration. */
static char *name_of_declaration(Dwarf_Die *root, const char *name)
{
	char text[NAME_MAX_BYTES] = "";
	Dwarf_Die die;
	size_t length = 0;

	if (!dwarf_diecu(root, &die, NULL, NULL))
		return NULL;
	if (dwarf_die_is_c(&die))
		return strdup(name);
	for (int i = 0; i < NESTING_MAX; i++) {
		const char *scope;

		if (!dwarf_die_enter(&die, root->addr) ||
		    die.addr == root->addr)
			break;
		scope = scope_name(&die);
		if (scope && length < sizeof(text))
			length += snprintf(text + length, sizeof(text) - length,
					   "%s::", scope);
	}
	if (length < sizeof(text))
		snprintf(text + length, sizeof(text) - length, "%s", name);
	return strdup(text);
}

char *dwarf_function_name(Dwarf_Die *die)
{
	const char *linkage = dwarf_die_linkage(die);
	char *full = linkage ? demangle_symbol(linkage) : NULL;
	Dwarf_Die root;
	const char *name;

	if (full) {
		full[demangle_plain_length(full)] = '\0';
		return full;
	}
	root = dwarf_die_root(die);
	name = dwarf_diename(&root);
	return name ? name_of_declaration(&root, name) : NULL;
}

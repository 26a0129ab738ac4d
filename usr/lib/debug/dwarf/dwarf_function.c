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
#include "dwarf_lines.h"
#include "dwarf_scope.h"
#include "dwarf_walk.h"

#define NESTING_MAX	64	/* of namespaces and classes */
#define NAME_MAX_BYTES	4096

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
		      sizeof(*function->ranges), array_compare);
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

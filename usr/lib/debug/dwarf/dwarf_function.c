// SPDX-License-Identifier: GPL-2.0
#include "dwarf_function.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/hash.h"
#include "dwarf_lines.h"

/* Add an entry to the list if it has code in the module, or is entered there.
 * 0 or -ENOMEM. */
static int functions_add(struct dwarf_file *dwarf, struct dwarf_functions *list,
			 Dwarf_Die *die)
{
	struct dwarf_function function = {
		.die = *die,
		.inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine,
	};
	size_t room = 0, available;
	Dwarf_Addr base, start, end;
	struct dwarf_scopes scopes;
	bool entered = false;
	ptrdiff_t at = 0;
	int code = 0;

	while (!code &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		/* what the linker left out has addresses that are none of code */
		if (start >= end ||
		    !dwarf_has_code(dwarf, start, &available))
			continue;
		if (end - start > available)
			end = start + available;
		if (array_grow(&function.ranges, function.range_count, &room,
			       sizeof(*function.ranges)))
			function.ranges[function.range_count++] =
				(struct module_range) { start, end };
		else
			code = -ENOMEM;
	}
	if (function.range_count) {
		function.entry = dwarf_die_entry(die, function.ranges[0].start);
		if (!module_ranges_have(function.ranges, function.range_count,
					function.entry))
			function.entry = function.ranges[0].start;
		qsort(function.ranges, function.range_count,
		      sizeof(*function.ranges), array_compare);
		entered = true;
	} else if (function.inlined && !code) {
		/* When gcc joins all code of a copy with the code around it,
		 * the copy has no bytes left, but its entry is known. */
		function.entry = dwarf_die_entry(die, 0);
		if (function.entry)
			code = dwarf_scopes_find(dwarf, function.entry,
						 &scopes);
		for (size_t i = 0; function.entry && !code && scopes.count &&
				   i < scopes.blocks->count; i++)
			entered |= scopes.blocks->list[i].die.addr == die->addr;
		code = code == -ENOMEM ? code : 0;
	}
	if (entered && !code && !array_grow(&list->functions, list->count,
					    &list->room,
					    sizeof(*list->functions)))
		code = -ENOMEM;
	if (entered && !code)
		list->functions[list->count++] = function;
	else
		free(function.ranges);
	return code;
}

int dwarf_function_at(struct dwarf_file *dwarf, uint64_t address,
		      struct dwarf_functions *found)
{
	struct dwarf_scopes scopes;
	int code = dwarf_scopes_find(dwarf, address, &scopes);

	*found = (struct dwarf_functions) {0};
	if (code == -ENOMEM || !scopes.count)
		return code == -ENOMEM ? code : 0;
	return functions_add(dwarf, found, &scopes.dies[0]);
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
	struct dwarf_functions one = {0};
	char *name = NULL;
	int code = 0;

	if (tag == DW_TAG_subprogram)
		code = functions_add(each->dwarf, &one, die);
	if (!code && one.count)
		name = dwarf_function_name(die);
	if (name)
		code = each->take(each->context, name, one.functions);
	free(name);
	dwarf_functions_free(&one);
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
	Dwarf_Die root, unit;

	if (full) {
		full[demangle_plain_length(full)] = '\0';
		return full;
	}
	root = dwarf_die_root(die);
	name = dwarf_diename(&root);
	if (!name || !dwarf_diecu(&root, &unit, NULL, NULL))
		return NULL;
	return dwarf_die_is_c(&unit) ? strdup(name) :
				       dwarf_die_path(&root, true);
}

/*
 * ---- by name ----
 *
 * An index of all functions and inlined copies that have code. An entry of a
 * copy names the one that it is a copy of (DW_AT_abstract_origin), which may
 * be in another unit; copies of the same one are a group, and groups are found
 * by name. It is made when first needed: all entries are gone through.
 */

struct name_instance {
	const void *entry;	/* address of its entry */
	uint32_t group;
};

struct name_group {
	Dwarf_Die origin;	/* of the instances, or the only one itself */
	uint32_t hash;		/* of the name without template arguments */
};

struct function_names {
	struct name_instance *instances;
	size_t instance_count, instance_room;
	struct name_group *groups;
	size_t group_count, group_room;
	struct key_map origins;		/* groups + 1, by the origin's address */
	struct hash_index index;	/* instances by the hash */
};

static uint32_t name_base_hash(const char *name, size_t length)
{
	return hash_fnv(HASH_FNV_START, name, length);
}

static int names_take(struct dwarf_walk *walk, Dwarf_Die *die, int tag)
{
	struct function_names *names = walk->context;
	Dwarf_Die origin = *die, root;
	uint32_t group, hash = 0;
	const char *name;
	size_t length;
	uint64_t key;

	if (!dwarf_die_has_code(die))
		return 0;
	if (!dwarf_die_origin(&origin) || !origin.addr)
		origin = *die;
	key = key_map_key(origin.addr);
	group = key_map_number(&names->origins, key);
	if (!group) {
		root = dwarf_die_root(&origin);
		name = dwarf_diename(&root);
		name = name ? demangle_base(name, &length) : NULL;
		if (name)
			hash = name_base_hash(name, length);
		group = names->group_count + 1;
		if (!array_grow(&names->groups, names->group_count,
				&names->group_room, sizeof(*names->groups)) ||
		    key_map_add_number(&names->origins, key, group))
			return -ENOMEM;
		names->groups[names->group_count++] =
			(struct name_group) { origin, hash };
	}
	if (!array_grow(&names->instances, names->instance_count,
			&names->instance_room, sizeof(*names->instances)) ||
	    !hash_index_add(&names->index, names->groups[group - 1].hash,
			    names->instance_count))
		return -ENOMEM;
	names->instances[names->instance_count++] =
		(struct name_instance) { die->addr, group - 1 };
	return 0;
}

static void function_names_free(void *value)
{
	struct function_names *names = value;

	free(names->instances);
	free(names->groups);
	key_map_free(&names->origins);
	hash_index_free(&names->index);
	free(names);
}

static struct function_names *names_get(struct dwarf_file *dwarf)
{
	struct dwarf_walk walk = { .take = names_take };
	struct function_names *names =
		dwarf_memo_find(dwarf, DWARF_NAMES, NULL);

	if (names)
		return names;
	walk.context = names = calloc(1, sizeof(*names));
	if (!names)
		return NULL;
	if (!dwarf_walk_all(&walk, dwarf) && hash_index_make(&names->index))
		return dwarf_memo_add(dwarf, DWARF_NAMES, NULL, names,
				      function_names_free);
	function_names_free(names);
	return NULL;
}

/* What is looked for. */
struct name_wanted {
	const char *name;
	const char *base;
	size_t base_length;
	bool mangled, bare;	/* bare: nothing but the base */
	bool whole;		/* it may have a return type */
};

/* Spelled types have no const, and those of C a tag. */
static void drop_words(char *text)
{
	static const char *const words[] = {
		"const", "struct ", "union ", "enum ", "class ",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i]);
		char *at = text;

		while ((at = strstr(at, words[i])))
			memmove(at, at + length, strlen(at + length) + 1);
	}
}

/* `wanted` means a function that has no linkage name: one of C, or one that was
 * never compiled for itself. Its parameters are those that were written down. */
static bool spelled_name_matches(Dwarf_Die *die, const char *wanted)
{
	Dwarf_Die root = dwarf_die_root(die), child, type;
	char *name = dwarf_function_name(die), *full = NULL;
	char *loose = strdup(wanted);
	const char *separator = "";
	bool match = false;
	size_t size;
	FILE *out = name ? open_memstream(&full, &size) : NULL;

	if (out) {
		fprintf(out, "%s(", name);
		dwarf_die_each(&root, &child) {
			char *text = NULL;

			if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
			    dwarf_hasattr(&child, DW_AT_artificial))
				continue;
			if (dwarf_type_of(&child, &type))
				text = dwarf_type_spell(&type, 0, 0);
			fprintf(out, "%s%s", separator, text ? text : "?");
			separator = ", ";
			free(text);
		}
		fputc(')', out);
		fclose(out);
	}
	if (full && loose) {
		drop_words(full + strcspn(full, "("));
		drop_words(loose + strcspn(loose, "("));
		match = demangle_matches(full, loose);
	}
	free(name);
	free(full);
	free(loose);
	return match;
}

static bool name_matches(const struct name_wanted *wanted, Dwarf_Die *die)
{
	const char *linkage, *name;
	Dwarf_Die root = dwarf_die_root(die);
	char *full = NULL;
	bool match;
	size_t length;

	name = dwarf_diename(&root);
	if (!name)
		return false;
	name = demangle_base(name, &length);
	if (length != wanted->base_length || memcmp(name, wanted->base, length))
		return false;
	if (wanted->bare)
		return true;
	linkage = dwarf_die_linkage(die);
	if (wanted->mangled)
		return linkage && !strcmp(linkage, wanted->name);
	if (linkage)
		full = demangle_symbol(linkage);
	if (!full)
		return spelled_name_matches(die, wanted->name);
	match = demangle_matches(full, wanted->name) ||
		(wanted->whole && demangle_is_whole(linkage, wanted->name));
	free(full);
	return match;
}

static bool unit_matches(Dwarf_Die *die, const char *file)
{
	Dwarf_Die unit;
	const char *name = dwarf_diecu(die, &unit, NULL, NULL) ?
			   dwarf_diename(&unit) : NULL;

	return name && source_path_matches(name, file, false);
}

/* `file` is that of the unit that declares it, or where it is declared. */
static bool file_matches(struct dwarf_file *dwarf, const char *file,
			 Dwarf_Die *die)
{
	Dwarf_Die root = dwarf_die_root(die);
	Dwarf_Attribute attr;
	Dwarf_Word number;

	return unit_matches(&root, file) ||
	       (dwarf_attr_integrate(die, DW_AT_decl_file, &attr) &&
		!dwarf_formudata(&attr, &number) &&
		dwarf_line_unit_file_matches(dwarf, attr.cu, number, file));
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
	char *full = demangle_symbol(name);
	struct name_wanted wanted = {
		.name = name, .mangled = full,
		.whole = !full && demangle_may_be_whole(name),
	};
	const struct function_names *names = names_get(dwarf);
	uint32_t position = 0, hash, number, last = UINT32_MAX;
	bool matches = false, all = false;
	int code = names ? 0 : -ENOMEM;
	Dwarf_Die die;

	*found = (struct dwarf_functions) {0};
	wanted.base = full ? full : wanted.whole ? demangle_start(name) : name;
	wanted.base = demangle_base(wanted.base, &wanted.base_length);
	wanted.bare = !full && wanted.base_length == strlen(name);
	hash = name_base_hash(wanted.base, wanted.base_length);
	while (!code &&
	       hash_index_next(&names->index, hash, &position, &number)) {
		const struct name_instance *copy = &names->instances[number];
		Dwarf_Die *origin = &names->groups[copy->group].origin;

		if (copy->group != last) {
			last = copy->group;
			matches = name_matches(&wanted, origin);
			/* else the file may be the one that was compiled
			 * where the copy is */
			all = matches && (!file ||
					  file_matches(dwarf, file, origin));
		}
		if (matches &&
		    dwarf_die_addr_die(dwarf->dwarf, (void *)copy->entry,
				       &die) &&
		    (all || unit_matches(&die, file)))
			code = functions_add(dwarf, found, &die);
	}
	free(full);
	if (!code && found->count)
		code = settle_copies(dwarf, found);
	if (!code && found->count)
		qsort(found->functions, found->count,
		      sizeof(*found->functions), dwarf_function_compare);
	if (code)
		dwarf_functions_free(found);
	return code;
}

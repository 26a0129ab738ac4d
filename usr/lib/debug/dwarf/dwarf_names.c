// SPDX-License-Identifier: GPL-2.0
/*
 * An index of all functions and inlined copies that have code. An entry of a
 * copy names the one that it is a copy of (DW_AT_abstract_origin), which may
 * be in another unit; copies of the same one are a group, and groups are found
 * by name. It is made when first needed: all entries are gone through.
 */
#include "dwarf_names.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"
#include "lib/array.h"
#include "lib/debug/module/module.h"
#include "dwarf_function.h"
#include "dwarf_line.h"
#include "dwarf_type.h"
#include "dwarf_unit.h"
#include "dwarf_walk.h"

struct instance {
	const void *entry;	/* address of its entry */
	uint32_t next;		/* index + 1 of the next in the group */
};

struct group {
	Dwarf_Die origin;	/* of the instances, or the only one itself */
	uint32_t hash;		/* of the name, without template arguments */
	uint32_t next;		/* index + 1 of the next in the bucket */
	uint32_t instances, last;	/* index + 1 */
};

struct names {
	struct instance *instances;
	size_t instance_count, instance_room;
	struct group *groups;
	size_t group_count, group_room;
	uint32_t *origins;	/* hash table of groups + 1, by entry */
	size_t origin_slots;
	uint32_t *buckets;	/* of groups + 1, by name */
	size_t bucket_count;
};

static uint32_t name_hash(const char *name, size_t length)
{
	return hash_fnv(HASH_FNV_START, name, length);
}

static uint32_t *origin_slot(const struct names *names, const void *entry)
{
	size_t slot = ((uintptr_t)entry * 0x9e3779b97f4a7c15ULL) >> 20;

	for (;; slot++) {
		uint32_t *group = &names->origins[slot &
						  (names->origin_slots - 1)];

		if (!*group || names->groups[*group - 1].origin.addr == entry)
			return group;
	}
}

/* At least half of the slots are free. */
static bool origins_grow(struct names *names)
{
	size_t slots = names->origin_slots ? names->origin_slots * 2 : 4096;
	uint32_t *grown;

	if (names->group_count * 2 < names->origin_slots)
		return true;
	grown = calloc(slots, sizeof(*grown));
	if (!grown)
		return false;
	free(names->origins);
	names->origins = grown;
	names->origin_slots = slots;
	for (size_t i = 0; i < names->group_count; i++)
		*origin_slot(names, names->groups[i].origin.addr) = i + 1;
	return true;
}

static Dwarf_Die die_origin(Dwarf_Die *die)
{
	Dwarf_Die origin = *die;
	Dwarf_Attribute attr;

	if (dwarf_attr(die, DW_AT_abstract_origin, &attr) ||
	    dwarf_attr(die, DW_AT_specification, &attr))
		dwarf_formref_die(&attr, &origin);
	return origin.addr ? origin : *die;
}

static uint32_t die_name_hash(Dwarf_Die *die)
{
	Dwarf_Die root = dwarf_die_root(die);
	const char *name = dwarf_diename(&root);
	size_t length;

	if (!name)
		return 0;
	name = demangle_base(name, &length);
	return name_hash(name, length);
}

/* The group of instances with this origin; NULL: no memory. */
static struct group *group_get(struct names *names, Dwarf_Die *origin)
{
	struct group *group;
	uint32_t *slot;

	if (!origins_grow(names))
		return NULL;
	slot = origin_slot(names, origin->addr);
	if (*slot)
		return &names->groups[*slot - 1];
	if (!array_grow(&names->groups, names->group_count,
			&names->group_room, sizeof(*names->groups)))
		return NULL;
	group = &names->groups[names->group_count++];
	*group = (struct group) {
		.origin = *origin, .hash = die_name_hash(origin),
	};
	*slot = names->group_count;
	return group;
}

static int names_take(struct dwarf_walk *walk, Dwarf_Die *die, int tag)
{
	struct names *names = walk->context;
	struct group *group;
	Dwarf_Die origin;

	if (!dwarf_die_has_code(die))
		return 0;
	origin = die_origin(die);
	group = group_get(names, &origin);
	if (!group || !array_grow(&names->instances, names->instance_count,
				  &names->instance_room,
				  sizeof(*names->instances)))
		return -ENOMEM;
	names->instances[names->instance_count++] =
		(struct instance) { .entry = die->addr };
	if (group->last)
		names->instances[group->last - 1].next = names->instance_count;
	else
		group->instances = names->instance_count;
	group->last = names->instance_count;
	return 0;
}

static bool names_hash(struct names *names)
{
	names->bucket_count = 1024;
	while (names->bucket_count < names->group_count)
		names->bucket_count *= 2;
	names->buckets = calloc(names->bucket_count, sizeof(*names->buckets));
	if (!names->buckets)
		return false;
	for (size_t i = names->group_count; i--; ) {
		struct group *group = &names->groups[i];
		uint32_t *bucket = &names->buckets[group->hash &
						   (names->bucket_count - 1)];

		group->next = *bucket;
		*bucket = i + 1;
	}
	return true;
}

static void names_free(struct names *names)
{
	if (!names)
		return;
	free(names->instances);
	free(names->groups);
	free(names->origins);
	free(names->buckets);
	free(names);
}

void dwarf_names_free(struct dwarf_file *dwarf)
{
	names_free(dwarf->names);
	dwarf->names = NULL;
}

static struct names *names_get(struct dwarf_file *dwarf)
{
	struct dwarf_walk walk = { .take = names_take };
	struct names *names = dwarf->names;

	if (names)
		return names;
	walk.context = names = calloc(1, sizeof(*names));
	if (!names)
		return NULL;
	if (dwarf_walk_all(&walk, dwarf) || !names_hash(names)) {
		names_free(names);
		return NULL;
	}
	dwarf->names = names;
	return names;
}

/* What is looked for. */
struct wanted {
	const char *name, *file;
	const char *base;
	size_t base_length;
	bool mangled, bare;	/* bare: nothing but the base */
	bool whole;		/* it may have a return type */
};

/* "int, char*" of the parameters that were written down. */
static void print_parameters(FILE *out, Dwarf_Die *function)
{
	Dwarf_Die child, type;
	const char *separator = "";

	if (dwarf_child(function, &child))
		return;
	do {
		char *text = NULL;

		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    dwarf_hasattr(&child, DW_AT_artificial))
			continue;
		if (dwarf_type_of(&child, &type))
			text = dwarf_type_spell(&type, 0, 0);
		fprintf(out, "%s%s", separator, text ? text : "?");
		separator = ", ";
		free(text);
	} while (dwarf_die_next(&child));
}

/* "ns::fn(int)" of a function that has no linkage name: one of C, or one that
 * was never compiled for itself. NULL: no memory, no name. */
static char *spell_name(Dwarf_Die *die)
{
	Dwarf_Die root = dwarf_die_root(die);
	char *name = dwarf_function_name(die), *text = NULL;
	size_t size;
	FILE *out = name ? open_memstream(&text, &size) : NULL;

	if (out) {
		fprintf(out, "%s(", name);
		print_parameters(out, &root);
		fputc(')', out);
		fclose(out);
	}
	free(name);
	return text;
}

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

static bool spelled_name_matches(Dwarf_Die *die, const char *wanted)
{
	char *full = spell_name(die), *loose = strdup(wanted);
	bool match = false;

	if (full && loose) {
		drop_words(full + strcspn(full, "("));
		drop_words(loose + strcspn(loose, "("));
		match = demangle_matches(full, loose);
	}
	free(full);
	free(loose);
	return match;
}

static bool name_matches(const struct wanted *wanted, Dwarf_Die *die)
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
	if (length != wanted->base_length ||
	    memcmp(name, wanted->base, length))
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
	const char *name;
	Dwarf_Die unit;

	name = dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_diename(&unit) :
						     NULL;
	return name && source_path_matches(name, file, false);
}

/* The file of the unit that declares it, or the one where it is declared. */
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

/* ... or the file that was compiled where the copy is. */
static int group_give(struct dwarf_file *dwarf, const struct names *names,
		      struct group *group, const char *file,
		      int (*take)(void *context, Dwarf_Die *die), void *context)
{
	bool all = !file || file_matches(dwarf, file, &group->origin);
	int code = 0;

	for (uint32_t i = group->instances; i && !code;
	     i = names->instances[i - 1].next) {
		Dwarf_Die die;

		if (dwarf_die_addr_die(dwarf->dwarf,
				       (void *)names->instances[i - 1].entry,
				       &die) &&
		    (all || unit_matches(&die, file)))
			code = take(context, &die);
	}
	return code;
}

static int wanted_find(struct dwarf_file *dwarf, const struct wanted *wanted,
		       int (*take)(void *context, Dwarf_Die *die),
		       void *context)
{
	const struct names *names = names_get(dwarf);
	uint32_t hash = name_hash(wanted->base, wanted->base_length);
	int code = names ? 0 : -ENOMEM;
	uint32_t i;

	if (code)
		return code;
	for (i = names->buckets[hash & (names->bucket_count - 1)]; i && !code;
	     i = names->groups[i - 1].next) {
		struct group *group = &names->groups[i - 1];

		if (group->hash == hash &&
		    name_matches(wanted, &group->origin))
			code = group_give(dwarf, names, group, wanted->file,
					  take, context);
	}
	return code;
}

int dwarf_names_find(struct dwarf_file *dwarf, const char *name,
		     const char *file,
		     int (*take)(void *context, Dwarf_Die *die), void *context)
{
	char *full = demangle_symbol(name);
	struct wanted wanted = {
		.name = name, .file = file, .mangled = full,
		.whole = !full && demangle_may_be_whole(name),
	};
	int code;

	wanted.base = full ? full : wanted.whole ? demangle_start(name) : name;
	wanted.base = demangle_base(wanted.base, &wanted.base_length);
	wanted.bare = !full && wanted.base_length == strlen(name);
	code = wanted_find(dwarf, &wanted, take, context);
	free(full);
	return code;
}

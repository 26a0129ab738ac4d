// SPDX-License-Identifier: GPL-2.0
/* Types by name. */
#include "dwarf_type.h"

#include <dwarf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf_scope.h"

#define DEPTH_MAX	64	/* of namespaces and classes */

struct scope {			/* around an entry, innermost first */
	const char *name;
	const struct scope *around;
};

struct search {
	const char *tag;	/* NULL: any */
	const char *name;	/* as given, without leading "::" */
	bool absolute;		/* it had one */
	Dwarf_Die *found;
};

static bool tag_fits(const struct search *search, Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return !search->tag || !strcmp(search->tag, "struct") ||
		       !strcmp(search->tag, "class");
	case DW_TAG_union_type:
		return !search->tag || !strcmp(search->tag, "union");
	case DW_TAG_enumeration_type:
		return !search->tag || !strcmp(search->tag, "enum");
	case DW_TAG_typedef:
	case DW_TAG_base_type:
		return !search->tag;
	default:
		return false;
	}
}

/* `name` names the entry, from the right, as far as it goes. */
static bool name_fits(const struct search *search, const char *own,
		      const struct scope *around)
{
	const char *end = search->name + strlen(search->name);

	for (;;) {
		size_t length = strlen(own), left = end - search->name;

		if (length > left || memcmp(end - length, own, length))
			return false;
		if (length == left)
			return !search->absolute || !around;
		end -= length;
		if (end - search->name < 2 || memcmp(end - 2, "::", 2) ||
		    !around)
			return false;
		end -= 2;
		own = around->name;
		around = around->around;
	}
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t bytes = strlen(end);

	return length >= bytes && !memcmp(text + length - bytes, end, bytes);
}

/* A definition elsewhere than its declaration has the name of that. */
static bool path_fits(const struct search *search, Dwarf_Die *die,
		      const struct scope *around)
{
	size_t length = strlen(search->name), bytes;
	const char *own = dwarf_diename(die);
	char *path;
	bool fits;

	if (!own || !ends_with(search->name, length, own))
		return false;
	if (!dwarf_hasattr(die, DW_AT_specification))
		return name_fits(search, own, around);
	path = dwarf_type_name(die);
	if (!path)
		return false;
	bytes = strlen(path);
	fits = ends_with(path, bytes, search->name) &&
	       (bytes == length ||
		(!search->absolute && path[bytes - length - 1] == ':'));
	free(path);
	return fits;
}

/* In C a struct without its keyword is nothing, in C++ it is the type. */
static bool type_fits(const struct search *search, Dwarf_Die *die,
		      const struct scope *around)
{
	return tag_fits(search, die) && path_fits(search, die, around) &&
	       (search->tag || dwarf_tag(die) == DW_TAG_typedef ||
		dwarf_tag(die) == DW_TAG_base_type ||
		dwarf_type_is_tagless(die));
}

/* The type itself, or the one in a unit of its own (DWARF 5 section 3.1.4). */
static bool take_type(const struct search *search, Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (dwarf_type_is_declared_only(die))
		return dwarf_formref_die(dwarf_attr(die, DW_AT_signature,
						    &attr), search->found);
	*search->found = *die;
	return true;
}

static bool search_children(const struct search *search, Dwarf_Die *die,
			    const struct scope *around, bool deep, int depth)
{
	Dwarf_Die child;

	if (depth == DEPTH_MAX || dwarf_child(die, &child))
		return false;
	do {
		struct scope scope = { dwarf_diename(&child), around };

		if (type_fits(search, &child, around) &&
		    take_type(search, &child))
			return true;
		if (deep && (dwarf_type_is_scope(&child) ||
			     dwarf_tag(&child) == DW_TAG_namespace) &&
		    search_children(search, &child,
				    scope.name ? &scope : around, deep,
				    depth + 1))
			return true;
	} while (dwarf_die_next(&child));
	return false;
}

static bool search_unit(const struct search *search, Dwarf_Die *unit)
{
	return search_children(search, unit, NULL,
			       dwarf_type_is_tagless(unit), 0);
}

/* Types of a block, or of what it is a copy of. */
static bool search_block(const struct search *search,
			 const struct dwarf_block *block)
{
	Dwarf_Die die = block->die;

	if (block->types && search_children(search, &die, NULL, false, 0))
		return true;
	for (int i = 0; i < DWARF_ORIGINS_MAX && dwarf_die_origin(&die); i++)
		if (search_children(search, &die, NULL, false, 0))
			return true;
	return false;
}

/* Types of the blocks around it, the innermost first. */
static bool search_blocks(const struct search *search,
			  struct dwarf_file *dwarf,
			  const struct dwarf_from *from)
{
	struct dwarf_scopes scopes;

	if (dwarf_scopes_find_from(dwarf, from, &scopes))
		return false;
	for (size_t i = scopes.count; i--; )
		if (search_block(search,
				 &scopes.blocks->list[scopes.numbers[i]]))
			return true;
	return false;
}

/* What a name was found to mean in a unit, or in all of them. */
struct known {
	const void *unit;	/* address of its entry; NULL: all */
	bool is_found;
	Dwarf_Die die;
	char name[];		/* with its tag */
};

static int known_compare(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* NULL: no memory. */
static struct known *known_make(const struct search *search,
				const Dwarf_Die *unit)
{
	const char *tag = search->tag ? search->tag : "";
	const char *scope = search->absolute ? "::" : "";
	size_t size = strlen(tag) + strlen(scope) + strlen(search->name) + 2;
	struct known *known = calloc(1, sizeof(*known) + size);

	if (!known)
		return NULL;
	known->unit = unit ? unit->addr : NULL;
	snprintf(known->name, size, "%s %s%s", tag, scope, search->name);
	return known;
}

void dwarf_types_free(struct dwarf_file *dwarf)
{
	tdestroy(dwarf->types, free);
	dwarf->types = NULL;
}

static bool search_units(const struct search *search,
			 struct dwarf_file *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(dwarf->dwarf, unit, &unit, NULL, NULL, &die,
				NULL))
		if (dwarf_split_enter(dwarf, &die) && search_unit(search, &die))
			return true;
	return false;
}

/* Units are read for each name once. */
static bool search_known(const struct search *search, struct dwarf_file *dwarf,
			 Dwarf_Die *unit)
{
	struct known *known = known_make(search, unit), **found;

	found = known ? tsearch(known, &dwarf->types, known_compare) : NULL;
	if (!found) {
		free(known);	/* it will be searched again */
		return unit ? search_unit(search, unit) :
			      search_units(search, dwarf);
	}
	if (*found != known) {
		free(known);
		*search->found = (*found)->die;
		return (*found)->is_found;
	}
	known->is_found = unit ? search_unit(search, unit) :
				 search_units(search, dwarf);
	if (known->is_found)
		known->die = *search->found;
	return known->is_found;
}

bool dwarf_type_find(struct dwarf_file *dwarf, const struct dwarf_from *from,
		     const char *tag, const char *name, Dwarf_Die *type)
{
	struct search search = { .tag = tag, .name = name, .found = type };
	Dwarf_Die unit;

	search.absolute = !strncmp(name, "::", 2);
	search.name += search.absolute ? 2 : 0;
	return (dwarf_unit_find(dwarf, from->pc, &unit) &&
		(search_blocks(&search, dwarf, from) ||
		 search_known(&search, dwarf, &unit))) ||
	       search_known(&search, dwarf, NULL);
}

static const char *tag_of(Dwarf_Die *bare)
{
	switch (dwarf_tag(bare)) {
	case DW_TAG_union_type:
		return "union";
	case DW_TAG_enumeration_type:
		return "enum";
	default:
		return "struct";
	}
}

bool dwarf_type_complete(struct dwarf_file *dwarf, Dwarf_Die *bare)
{
	Dwarf_Die found;
	const struct dwarf_from nowhere = { 0 };
	char *name, *absolute = NULL;
	bool complete;

	if (!bare->addr || !dwarf_type_is_declared_only(bare))
		return bare->addr;
	name = dwarf_type_name(bare);
	if (!name || asprintf(&absolute, "::%s", name) < 0)
		absolute = NULL;
	complete = dwarf && absolute &&
		   dwarf_type_find(dwarf, &nowhere, tag_of(bare), absolute,
				   &found);
	if (complete)
		*bare = found;
	free(absolute);
	free(name);
	return complete;
}

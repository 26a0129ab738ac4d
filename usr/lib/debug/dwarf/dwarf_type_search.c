// SPDX-License-Identifier: GPL-2.0
#include "dwarf_type_search.h"

#include <dwarf.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX	64	/* of namespaces and classes */
#define PARTS_DEEP	8	/* types in types, when two are compared */

struct type_scope {		/* around an entry, innermost first */
	const char *name;
	const struct type_scope *around;
};

bool dwarf_type_tag_fits(const char *wanted, Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return !wanted || !strcmp(wanted, "struct") ||
		       !strcmp(wanted, "class");
	case DW_TAG_union_type:
		return !wanted || !strcmp(wanted, "union");
	case DW_TAG_enumeration_type:
		return !wanted || !strcmp(wanted, "enum");
	case DW_TAG_typedef:
	case DW_TAG_base_type:
		return !wanted;
	default:
		return false;
	}
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_number(Dwarf_Die *a, Dwarf_Die *b, unsigned int name)
{
	uint64_t p = 0, q = 0;

	return dwarf_die_number(a, name, &p) == dwarf_die_number(b, name, &q) &&
	       p == q;
}

static bool same_entry(Dwarf_Die *a, Dwarf_Die *b, int depth);

/* What they consist of; pointers are as good as others. */
static bool same_parts(Dwarf_Die *a, Dwarf_Die *b, int depth)
{
	Dwarf_Die x, y;

	dwarf_die_child(a, &x);
	dwarf_die_child(b, &y);
	while (x.addr && y.addr) {
		int tag = dwarf_tag(&x);

		if (tag != dwarf_tag(&y))
			return false;
		if ((tag == DW_TAG_member || tag == DW_TAG_enumerator ||
		     tag == DW_TAG_inheritance ||
		     tag == DW_TAG_subrange_type) &&
		    !same_entry(&x, &y, depth))
			return false;
		dwarf_die_sibling(&x);
		dwarf_die_sibling(&y);
	}
	return !x.addr && !y.addr;
}

static bool same_type(const Dwarf_Die *a, const Dwarf_Die *b, int depth)
{
	uint64_t bytes = 0, other = 0;
	Dwarf_Die x, y;

	dwarf_type_peel(a, &x, NULL);
	dwarf_type_peel(b, &y, NULL);
	if (!x.addr || !y.addr || x.addr == y.addr)
		return x.addr == y.addr;
	if (dwarf_tag(&x) != dwarf_tag(&y) ||
	    !same_text(dwarf_diename(&x), dwarf_diename(&y)))
		return false;
	if (dwarf_tag(&x) == DW_TAG_pointer_type || depth == PARTS_DEEP ||
	    dwarf_type_is_declared_only(&x) || dwarf_type_is_declared_only(&y))
		return true;
	return dwarf_type_bytes(&x, &bytes) == dwarf_type_bytes(&y, &other) &&
	       bytes == other && same_number(&x, &y, DW_AT_encoding) &&
	       (dwarf_tag(&x) == DW_TAG_base_type ||
		same_entry(&x, &y, depth + 1));
}

static bool same_entry(Dwarf_Die *a, Dwarf_Die *b, int depth)
{
	static const unsigned int numbers[] = {
		DW_AT_data_member_location, DW_AT_data_bit_offset,
		DW_AT_bit_size, DW_AT_const_value, DW_AT_upper_bound,
		DW_AT_count,
	};
	Dwarf_Die x, y;
	bool typed = dwarf_type_of(a, &x);

	if (!same_text(dwarf_diename(a), dwarf_diename(b)) ||
	    typed != dwarf_type_of(b, &y) ||
	    (typed && !same_type(&x, &y, depth)))
		return false;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!same_number(a, b, numbers[i]))
			return false;
	return same_parts(a, b, depth);
}

bool dwarf_type_same(const Dwarf_Die *a, const Dwarf_Die *b)
{
	return same_type(a, b, 0);
}

/* `name` names the entry, from the right, as far as it goes. */
static bool name_fits(const struct type_search *search, const char *own,
		      const struct type_scope *around)
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

static bool name_ends_with(const char *text, size_t length, const char *end)
{
	size_t bytes = strlen(end);

	return length >= bytes && !memcmp(text + length - bytes, end, bytes);
}

/* A definition elsewhere than its declaration has the name of that. */
static bool type_path_fits(const struct type_search *search, Dwarf_Die *die,
			   const struct type_scope *around)
{
	size_t length = strlen(search->name), bytes;
	const char *own = dwarf_diename(die);
	char *path;
	bool fits;

	if (!own || !name_ends_with(search->name, length, own))
		return false;
	if (!dwarf_hasattr(die, DW_AT_specification))
		return name_fits(search, own, around);
	path = dwarf_type_name(die);
	if (!path)
		return false;
	bytes = strlen(path);
	fits = name_ends_with(path, bytes, search->name) &&
	       (bytes == length ||
		(!search->absolute && path[bytes - length - 1] == ':'));
	free(path);
	return fits;
}

/* The type itself, or the one in a unit of its own (DWARF 5 section 3.1.4).
 * Not a second one that is the same. */
static bool found_type_take(struct type_search *search, Dwarf_Die *die)
{
	Dwarf_Die type = *die;

	if (dwarf_type_is_declared_only(die) &&
	    !dwarf_die_refer(die, DW_AT_signature, &type)) {
		search->is_declared = true;
		return false;
	}
	if (search->code && search->code != -ENOENT)
		return true;
	if (!search->code && dwarf_type_same(&type, &search->found[0]))
		return true;
	search->found[!search->code] = type;
	search->code = search->code ? 0 : -ENOTUNIQ;
	return true;
}

static bool search_children(struct type_search *search, Dwarf_Die *die,
			    const struct type_scope *around, bool deep,
			    int depth)
{
	Dwarf_Die child;

	if (depth == DEPTH_MAX)
		return false;
	for (dwarf_die_child(die, &child); child.addr;
	     dwarf_die_sibling(&child)) {
		struct type_scope scope = { dwarf_diename(&child), around };
		int tag = dwarf_tag(&child);

		/* in C a struct without its keyword is nothing, in C++ it is
		 * the type */
		if (dwarf_type_tag_fits(search->tag, &child) &&
		    type_path_fits(search, &child, around) &&
		    (search->tag || tag == DW_TAG_typedef ||
		     tag == DW_TAG_base_type ||
		     dwarf_type_is_tagless(&child)) &&
		    found_type_take(search, &child))
			return true;
		if (deep && (dwarf_type_is_scope(&child) ||
			     tag == DW_TAG_namespace) &&
		    search_children(search, &child,
				    scope.name ? &scope : around, deep,
				    depth + 1))
			return true;
	}
	return false;
}

bool dwarf_type_search_block(struct type_search *search, Dwarf_Die *block)
{
	return search_children(search, block, NULL, false, 0);
}

static bool search_unit_types(struct type_search *search, Dwarf_Die *unit)
{
	return search_children(search, unit, NULL,
			       dwarf_type_is_tagless(unit), 0);
}

/* What a name was found to mean in a unit, or in all of them. */
struct type_known {
	const void *unit;	/* address of its entry; NULL: all */
	int code;
	bool is_declared;
	Dwarf_Die found[2];
	char name[];		/* with its tag */
};

static int known_compare(const void *a, const void *b)
{
	const struct type_known *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return strcmp(x->name, y->name);
}

void dwarf_types_free(struct dwarf_file *dwarf)
{
	tdestroy(dwarf->types, free);
	dwarf->types = NULL;
}

/* In a unit, or with NULL in all. Units are read for each name once. */
int dwarf_type_search_unit(struct type_search *search,
			   struct dwarf_file *dwarf, Dwarf_Die *unit)
{
	const char *tag = search->tag ? search->tag : "";
	const char *scope = search->absolute ? "::" : "";
	size_t size = strlen(tag) + strlen(scope) + strlen(search->name) + 2;
	struct type_known *known = calloc(1, sizeof(*known) + size), **found;
	Dwarf_CU *at = NULL;
	Dwarf_Die die;

	search->code = -ENOENT;
	if (known) {
		known->unit = unit ? unit->addr : NULL;
		snprintf(known->name, size, "%s %s%s", tag, scope,
			 search->name);
	}
	found = known ? tsearch(known, &dwarf->types, known_compare) : NULL;
	if (found && *found != known) {
		free(known);
		search->code = (*found)->code;
		search->is_declared = (*found)->is_declared;
		memcpy(search->found, (*found)->found,
		       sizeof((*found)->found));
		return search->code;
	}
	if (unit)
		search_unit_types(search, unit);
	while (!unit && search->code != -ENOTUNIQ &&
	       !dwarf_get_units(dwarf->dwarf, at, &at, NULL, NULL, &die, NULL))
		if (dwarf_split_enter(dwarf, &die))
			search_unit_types(search, &die);
	if (found) {
		known->code = search->code;
		known->is_declared = search->is_declared;
		memcpy(known->found, search->found, sizeof(known->found));
	} else {
		free(known);	/* no memory: it will be searched again */
	}
	return search->code;
}

bool dwarf_type_complete(struct dwarf_file *dwarf, Dwarf_Die *bare)
{
	Dwarf_Die found[2];
	struct type_search search = {
		.tag = "struct", .absolute = true, .found = found,
	};
	char *name;
	bool complete;

	if (!bare->addr || !dwarf_type_is_declared_only(bare))
		return bare->addr;
	if (dwarf_tag(bare) == DW_TAG_union_type)
		search.tag = "union";
	else if (dwarf_tag(bare) == DW_TAG_enumeration_type)
		search.tag = "enum";
	search.name = name = dwarf_type_name(bare);
	complete = dwarf && name &&
		   !dwarf_type_search_unit(&search, dwarf, NULL);
	if (complete)
		*bare = found[0];
	free(name);
	return complete;
}

// SPDX-License-Identifier: GPL-2.0
#include "dwarf_member.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX	32	/* of classes and members without a name */
#define CLASSES_MAX	10000	/* looked into for one name: damaged ones may
				 * contain themselves */
#define FOUND_MAX	32

struct member_search {
	struct dwarf_file *dwarf;
	const char *name;
	const char *class;	/* "N::B" of "N::B::x" */
	size_t class_length;	/* 0: "x" */
	bool types;
	unsigned int left;
	struct dwarf_named found[FOUND_MAX];
	size_t count;
};

static void member_found(struct member_search *search,
			 const struct dwarf_named *named)
{
	if (search->count < FOUND_MAX)
		search->found[search->count++] = *named;
}

static bool find_own(struct member_search *search, Dwarf_Die *class,
		     const struct dwarf_named *around);

/* Members of a struct or union without a name are those of the class. */
static bool member_take_data(struct member_search *search, Dwarf_Die *class,
			     Dwarf_Die *die, const struct dwarf_named *around)
{
	struct dwarf_named named = *around;
	struct dwarf_member member;
	Dwarf_Die bare;

	if (!dwarf_type_member(class, die, &member))
		memset(&member, 0, sizeof(member));
	named.in.bit_offset += member.bit_offset;
	if (!dwarf_diename(die)) {
		if (!dwarf_type_of(die, &bare))
			return false;
		dwarf_type_peel(&bare, &bare, NULL);
		return bare.addr && find_own(search, &bare, &named);
	}
	if (search->types || !dwarf_die_is_named(die, search->name))
		return false;
	named.kind = dwarf_type_member(class, die, &member) ?
			     DWARF_NAMED_DATA : DWARF_NAMED_STATIC;
	named.die = *die;
	named.bits = member.bits;
	named.is_reversed = member.is_reversed;
	if (!dwarf_type_of(die, &named.type))
		memset(&named.type, 0, sizeof(named.type));
	member_found(search, &named);
	return true;
}

/* One entry of a class, which may be what is looked for */
static bool take_entry(struct member_search *search, Dwarf_Die *class,
		       Dwarf_Die *die, const struct dwarf_named *around)
{
	struct dwarf_named named = *around;
	int tag = dwarf_tag(die);

	if (tag == DW_TAG_member)
		return member_take_data(search, class, die, around);
	if (tag == DW_TAG_enumeration_type && !search->types &&
	    !dwarf_die_flag(die, DW_AT_enum_class)) {
		named.kind = DWARF_NAMED_ENUMERATOR;
		named.type = *die;
		for (dwarf_die_child(die, &named.die); named.die.addr;
		     dwarf_die_sibling(&named.die))
			if (dwarf_tag(&named.die) == DW_TAG_enumerator &&
			    dwarf_die_is_named(&named.die, search->name)) {
				member_found(search, &named);
				return true;
			}
		named = *around;
	}
	if (!dwarf_die_is_named(die, search->name))
		return false;
	named.die = *die;
	switch (tag) {
	case DW_TAG_variable:
		named.kind = DWARF_NAMED_STATIC;
		if (!dwarf_type_of(die, &named.type))
			memset(&named.type, 0, sizeof(named.type));
		break;
	case DW_TAG_subprogram:
		named.kind = DWARF_NAMED_FUNCTION;
		break;
	case DW_TAG_typedef:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		named.kind = DWARF_NAMED_TYPE;
		break;
	default:
		return false;
	}
	if (search->types && named.kind != DWARF_NAMED_TYPE)
		return false;
	member_found(search, &named);
	return true;
}

/* What the class itself declares; a struct and a member may share a name, then
 * the member is meant (C++17 section 6.3.10). */
static bool find_own(struct member_search *search, Dwarf_Die *class,
		     const struct dwarf_named *around)
{
	size_t first = search->count;
	Dwarf_Die child;

	if (!search->left || !--search->left)
		return false;
	for (dwarf_die_child(class, &child); child.addr;
	     dwarf_die_sibling(&child))
		take_entry(search, class, &child, around);
	for (size_t i = first + 1; i < search->count; i++)
		if (search->found[first].kind == DWARF_NAMED_TYPE)
			search->found[first] = search->found[i];
	if (search->count > first)
		search->count = first + 1;
	return search->count > first;
}

static bool base_enter(struct member_search *search, Dwarf_Die *class,
		       Dwarf_Die *die, struct dwarf_subobject *in,
		       Dwarf_Die *base)
{
	struct dwarf_member member;

	if (dwarf_tag(die) != DW_TAG_inheritance || !dwarf_type_of(die, base))
		return false;
	dwarf_type_peel(base, base, NULL);
	if (!base->addr || !dwarf_type_complete(search->dwarf, base))
		return false;
	if (!dwarf_hasattr(die, DW_AT_virtuality)) {
		if (!dwarf_type_member(class, die, &member))
			return false;
		in->bit_offset += member.bit_offset;
		return true;
	}
	if (in->step_count == DWARF_VIRTUAL_MAX)
		return false;
	in->steps[in->step_count].bit_offset = in->bit_offset;
	in->steps[in->step_count++].die = *die;
	in->bit_offset = 0;
	return true;
}

/* "B", "N::B" or B of B<int>. */
static bool class_fits(const struct member_search *search, Dwarf_Die *class)
{
	char *path = dwarf_type_name(class);
	size_t length = path ? strlen(path) : 0, wanted = search->class_length;
	const char *arguments = path ? strchr(path, '<') : NULL;
	bool fits = false;

	for (int i = 0; i < 2 && !fits; i++) {
		fits = length >= wanted &&
		       !strncmp(path + length - wanted, search->class,
				wanted) &&
		       (length == wanted || path[length - wanted - 1] == ':');
		length = arguments ? (size_t)(arguments - path) : 0;
	}
	free(path);
	return fits;
}

static void class_search(struct member_search *search, Dwarf_Die *class,
			 const struct dwarf_subobject *in, int depth)
{
	struct dwarf_named around = { .class = *class, .in = *in };
	bool wanted = !search->class_length || class_fits(search, class);
	struct member_search inner;
	Dwarf_Die child;

	if (depth == DEPTH_MAX || !search->left || !--search->left)
		return;
	if (wanted && search->class_length) {
		inner = *search;
		inner.class_length = 0;
		class_search(&inner, class, in, depth + 1);
		inner.class_length = search->class_length;
		*search = inner;
		return;
	}
	if (wanted && find_own(search, class, &around))
		return;
	for (dwarf_die_child(class, &child); child.addr;
	     dwarf_die_sibling(&child)) {
		struct dwarf_subobject inside = *in;
		Dwarf_Die base;

		if (base_enter(search, class, &child, &inside, &base))
			class_search(search, &base, &inside, depth + 1);
	}
}

static const void *subobject_start(const struct dwarf_named *named)
{
	const struct dwarf_subobject *in = &named->in;
	Dwarf_Die base;

	if (!in->step_count)
		return NULL;
	base = in->steps[in->step_count - 1].die;
	if (!dwarf_type_of(&base, &base))
		return NULL;
	dwarf_type_peel(&base, &base, NULL);
	return base.addr;
}

static bool has_virtual_base(struct member_search *search, Dwarf_Die *class,
			     const void *base, int depth)
{
	Dwarf_Die child, inner;

	if (depth == DEPTH_MAX || !search->left || !--search->left)
		return false;
	for (dwarf_die_child(class, &child); child.addr;
	     dwarf_die_sibling(&child)) {
		struct dwarf_subobject unused = { 0 };

		if (!base_enter(search, class, &child, &unused, &inner))
			continue;
		if ((unused.step_count && inner.addr == base) ||
		    has_virtual_base(search, &inner, base, depth + 1))
			return true;
	}
	return false;
}

/*
 * It is the same as another one: virtual bases of the same class are one. Or one
 * in a virtual base is hidden by one in a class that has this base, on whatever
 * path it was found (C++17 section 13.2, 6).
 */
static bool is_hidden(struct member_search *search, size_t number)
{
	const struct dwarf_named *a = &search->found[number];
	const void *start = subobject_start(a);

	for (size_t i = 0; i < search->count; i++) {
		struct dwarf_named *b = &search->found[i];

		if (i == number)
			continue;
		if (i < number && a->die.addr == b->die.addr &&
		    ((a->kind != DWARF_NAMED_DATA &&
		      a->kind != DWARF_NAMED_FUNCTION) ||
		     (start == subobject_start(b) &&
		      a->in.bit_offset == b->in.bit_offset)))
			return true;
		if (start && b->class.addr != start &&
		    has_virtual_base(search, &b->class, start, 0))
			return true;
	}
	return false;
}

int dwarf_member_find(struct dwarf_file *dwarf, Dwarf_Die *class,
		      const char *name, bool types,
		      struct dwarf_named found[2])
{
	struct member_search search = {
		.dwarf = dwarf, .name = name, .class = name, .types = types,
		.left = CLASSES_MAX,
	};
	struct dwarf_subobject whole = { 0 };
	size_t kept = 0;

	for (const char *at = name; (at = strstr(at, "::")); at += 2) {
		search.class_length = at - name;
		search.name = at + 2;
	}
	class_search(&search, class, &whole, 0);
	for (size_t i = 0; i < search.count && kept < 2; i++)
		if (!is_hidden(&search, i))
			found[kept++] = search.found[i];
	return kept == 1 ? 0 : kept ? -ENOTUNIQ : -ENOENT;
}

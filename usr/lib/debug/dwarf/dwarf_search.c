// SPDX-License-Identifier: GPL-2.0
#include "dwarf_search.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"

#define SCOPES_DEEP	64	/* namespaces and classes */
#define PARTS_DEEP	8	/* types in types, when two are compared */
#define MEMBERS_DEEP	32	/* classes and members without a name */
#define CLASSES_MAX	10000	/* looked into for one name: damaged ones may
				 * contain themselves */
#define FOUND_MAX	32

/* ---- types ---- */

struct type_scope {		/* around an entry, innermost first */
	const char *name;
	const struct type_scope *around;
};

bool dwarf_type_tag_fits(const char *wanted, Dwarf_Die *die)
{
	const char *keyword = dwarf_type_keyword(die);
	int tag = dwarf_tag(die);

	if (!keyword || !wanted)
		return !wanted && (keyword || tag == DW_TAG_typedef ||
				   tag == DW_TAG_base_type);
	return !strcmp(wanted, keyword) ||
	       (!strcmp(wanted, "class") && !strcmp(keyword, "struct"));
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

/* The path is `name`, or ends with "::" and that. */
static bool path_ends(const char *path, size_t length, const char *name,
		      size_t bytes)
{
	return length >= bytes && !memcmp(path + length - bytes, name, bytes) &&
	       (length == bytes || path[length - bytes - 1] == ':');
}

/* A definition elsewhere than its declaration has the name of that. */
static bool type_path_fits(const struct type_search *search, Dwarf_Die *die,
			   const struct type_scope *around)
{
	size_t length = strlen(search->name), bytes;
	const char *own = dwarf_diename(die);
	char *path;
	bool fits;

	if (!own || !path_ends(search->name, length, own, strlen(own)))
		return false;
	if (!dwarf_hasattr(die, DW_AT_specification))
		return name_fits(search, own, around);
	path = dwarf_type_name(die);
	if (!path)
		return false;
	bytes = strlen(path);
	fits = path_ends(path, bytes, search->name, length) &&
	       (bytes == length || !search->absolute);
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

	if (depth == SCOPES_DEEP)
		return false;
	dwarf_die_each(die, &child) {
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

/* What a name was found to mean. */
struct type_known {
	const void *unit;	/* address of its entry; NULL: all */
	struct type_search search;
	char text[];		/* of the search's name and tag */
};

/* Units are read for each name once. */
int dwarf_type_search_unit(struct type_search *search,
			   struct dwarf_file *dwarf, Dwarf_Die *unit)
{
	const void *where = unit ? unit->addr : NULL, *key;
	size_t size = strlen(search->name) + 1, step = 0;
	size_t tag_size = search->tag ? strlen(search->tag) + 1 : 0;
	struct type_known *known;
	Dwarf_CU *at = NULL;
	Dwarf_Die die;

	key = (void *)(uintptr_t)hash_fnv(key_map_mix(HASH_FNV_START,
						      key_map_key(where)),
					  search->name, size);
	while ((known = key_map_each(&dwarf->memos[DWARF_TYPES].map,
				     key_map_key(key), &step)))
		if (known->unit == where &&
		    same_text(known->search.name, search->name) &&
		    known->search.absolute == search->absolute &&
		    same_text(known->search.tag, search->tag)) {
			*search = known->search;
			return search->code;
		}
	search->code = -ENOENT;
	if (unit)
		search_unit_types(search, unit);
	while (!unit && search->code != -ENOTUNIQ &&
	       !dwarf_get_units(dwarf->dwarf, at, &at, NULL, NULL, &die, NULL))
		if (dwarf_split_enter(dwarf, &die))
			search_unit_types(search, &die);
	known = malloc(sizeof(*known) + size + tag_size);
	if (known) {		/* else it will be searched again */
		known->unit = where;
		known->search = *search;
		known->search.name = memcpy(known->text, search->name, size);
		if (search->tag)
			known->search.tag = memcpy(known->text + size,
						   search->tag, tag_size);
		dwarf_memo_add(dwarf, DWARF_TYPES, key, known, free);
	}
	return search->code;
}

bool dwarf_type_complete(struct dwarf_file *dwarf, Dwarf_Die *bare)
{
	struct type_search search = { .absolute = true };
	char *name;
	bool complete;

	if (!bare->addr || !dwarf_type_is_declared_only(bare))
		return bare->addr;
	search.tag = dwarf_type_keyword(bare);
	if (!search.tag)
		search.tag = "struct";
	search.name = name = dwarf_type_name(bare);
	complete = dwarf && name &&
		   !dwarf_type_search_unit(&search, dwarf, NULL);
	if (complete)
		*bare = search.found[0];
	free(name);
	return complete;
}

/* ---- members ---- */

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

	named.kind = DWARF_NAMED_DATA;
	if (!dwarf_type_member(class, die, &member)) {
		named.kind = DWARF_NAMED_STATIC;
		memset(&member, 0, sizeof(member));
	}
	named.in.bit_offset += member.bit_offset;
	if (!dwarf_diename(die)) {
		bare = dwarf_type_bare(die);
		return bare.addr && find_own(search, &bare, &named);
	}
	if (search->types || !dwarf_die_is_named(die, search->name))
		return false;
	named.die = *die;
	named.bits = member.bits;
	named.is_reversed = member.is_reversed;
	named.type = dwarf_type_declared(die);
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
		if (dwarf_die_child_named(die, DW_TAG_enumerator, search->name,
					  &named.die)) {
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
		named.type = dwarf_type_declared(die);
		break;
	case DW_TAG_subprogram:
		named.kind = DWARF_NAMED_FUNCTION;
		break;
	case DW_TAG_typedef: case DW_TAG_structure_type: case DW_TAG_class_type:
	case DW_TAG_union_type: case DW_TAG_enumeration_type:
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
	dwarf_die_each(class, &child)
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

	if (dwarf_tag(die) != DW_TAG_inheritance)
		return false;
	*base = dwarf_type_bare(die);
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
	size_t wanted = search->class_length;
	bool fits = path && (path_ends(path, strlen(path), search->class,
				       wanted) ||
			     path_ends(path, strcspn(path, "<"), search->class,
				       wanted));

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

	if (depth == MEMBERS_DEEP || !search->left || !--search->left)
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
	dwarf_die_each(class, &child) {
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
	return dwarf_type_bare(&base).addr;
}

static bool has_virtual_base(struct member_search *search, Dwarf_Die *class,
			     const void *base, int depth)
{
	Dwarf_Die child, inner;

	if (depth == MEMBERS_DEEP || !search->left || !--search->left)
		return false;
	dwarf_die_each(class, &child) {
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
		      const char *name, bool types, struct dwarf_named found[2])
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

// SPDX-License-Identifier: GPL-2.0
#include "dwarf_unit.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/hash.h"
#include "dwarf_type.h"

#define FUNCTIONS_DEEP	256	/* blocks within blocks */
#define SCOPES_DEEP	64	/* namespaces and classes */
#define PATH_MAX_BYTES	1024

static int functions_walk(struct dwarf_walk *walk, Dwarf_Die *parent,
			  unsigned int depth)
{
	Dwarf_Die die, function = walk->function;
	int code = 0;

	if (depth == FUNCTIONS_DEEP)
		return 0;
	dwarf_die_each(parent, &die) {
		int tag = dwarf_tag(&die);

		/* a damaged parent may contain an entry that is before it */
		if (code || die.addr <= walk->last)
			break;
		walk->last = die.addr;
		switch (tag) {
		case DW_TAG_subprogram:
			walk->function = die;
			if (!dwarf_die_has_code(&die))
				walk->function.addr = NULL;
			/* fall through */
		case DW_TAG_inlined_subroutine:
			code = walk->take(walk, &die, tag);
			break;
		case DW_TAG_lexical_block: case DW_TAG_try_block:
		case DW_TAG_catch_block: case DW_TAG_with_stmt:
		case DW_TAG_namespace: case DW_TAG_module:
			break;
		case DW_TAG_class_type: case DW_TAG_structure_type:
		case DW_TAG_union_type: case DW_TAG_interface_type:
			if (walk->classes)
				break;
			continue;
		case DW_TAG_call_site: case DW_TAG_GNU_call_site:
			if (walk->calls)
				code = walk->take(walk, &die, tag);
			/* fall through */
		default:
			continue;
		}
		if (!code)
			code = functions_walk(walk, &die, depth + 1);
		walk->function = function;
	}
	return code;
}

int dwarf_walk_unit(struct dwarf_walk *walk, Dwarf_Die *unit)
{
	walk->last = NULL;
	walk->function.addr = NULL;
	walk->classes = !dwarf_die_is_c(unit);
	return functions_walk(walk, unit, 0);
}

int dwarf_walk_all(struct dwarf_walk *walk, struct dwarf_file *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;
	int code = 0;

	while (!code && !dwarf_get_units(dwarf->dwarf, unit, &unit, NULL,
					 &type, &die, NULL))
		if (type != DW_UT_type && dwarf_split_enter(dwarf, &die))
			code = dwarf_walk_unit(walk, &die);
	return code;
}

/* ---- what it declares ---- */

struct unit_walk {
	struct unit *unit;
	bool nested;		/* the language has namespaces or members */
	unsigned int depth;
	const void *last;	/* entry visited: damaged siblings go back */
	struct key_map partials;	/* units walked */
};

/* Room for one more of the unit's `name`s; `names` is the array of them. */
#define unit_grow(unit, names, name) \
	((unit)->failed = (unit)->failed || \
	 !array_grow(&(unit)->names, (unit)->name##_count, \
		     &(unit)->name##_room, sizeof(*(unit)->names)), \
	 !(unit)->failed)

static void unit_add_name(struct unit *unit, enum unit_kind kind,
			  const char *name, Dwarf_Die *die, uint32_t scope)
{
	if (unit_grow(unit, names, name))
		unit->names[unit->name_count++] = (struct unit_name){
			.kind = kind, .name = name, .die = *die,
			.scope = scope,
		};
}

static void unit_add_member(struct unit *unit, const Dwarf_Die *die,
			    uint32_t scope)
{
	if (!unit->failed)
		unit->failed = key_map_add_number(
			&unit->members, key_map_key(die->addr), scope + 1);
}

static void unit_add_code(struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start < end && unit_grow(unit, codes, code))
			unit->codes[unit->code_count++] = (struct unit_code){
				.start = start, .end = end, .function = *die,
			};
}

/* The number of the scope `name` in `parent`; a namespace may be opened again
 * and again. */
static uint32_t unit_add_scope(struct unit *unit, const char *name,
			       uint32_t parent, enum unit_scope_kind kind,
			       const Dwarf_Die *die)
{
	const char *above = unit->scopes[parent].path;
	char path[PATH_MAX_BYTES];
	struct unit_scope *added;
	size_t outer;

	snprintf(path, sizeof(path), "%s%s%s", above, *above ? "::" : "", name);
	for (size_t i = kind == UNIT_NAMESPACE ? unit->scope_count : 0;
	     i-- > 0;)
		if (unit->scopes[i].kind == UNIT_NAMESPACE &&
		    !strcmp(unit->scopes[i].path, path))
			return i;
	if (!unit_grow(unit, scopes, scope))
		return parent;
	added = &unit->scopes[unit->scope_count];
	*added = (struct unit_scope){
		.path = strdup(path), .parent = parent, .kind = kind,
		.die = *die,
	};
	if (!added->path) {
		unit->failed = true;
		return parent;
	}
	/* which may have been cut */
	outer = *above ? strlen(above) + 2 : 0;
	added->name = added->path +
		      (outer < strlen(path) ? outer : strlen(path));
	return unit->scope_count++;
}

bool dwarf_unit_scope(const struct unit *unit, const Dwarf_Die *die,
		      uint32_t *scope)
{
	uint32_t found = key_map_number(&unit->members, key_map_key(die->addr));

	if (found)
		*scope = found - 1;
	return found;
}

static void unit_walk_children(struct unit_walk *walk, Dwarf_Die *die,
			       uint32_t scope);

static void unit_add_using(struct unit *unit, const char *alias,
			   uint32_t scope, const Dwarf_Die *import)
{
	if (unit_grow(unit, usings, using))
		unit->usings[unit->using_count++] = (struct unit_using){
			.alias = alias, .scope = scope, .import = *import,
		};
}

/* A using declaration, or another name of a namespace. */
static void walk_imported(struct unit_walk *walk, const char *name,
			  Dwarf_Die *target, uint32_t scope)
{
	struct unit *unit = walk->unit;
	size_t before;

	if (!name)
		name = dwarf_diename(target);
	if (!name)
		return;
	before = unit->name_count;
	switch (dwarf_tag(target)) {
	case DW_TAG_variable:
		unit_add_name(unit, UNIT_VARIABLE, name, target, scope);
		break;
	case DW_TAG_enumeration_type:
		unit_add_name(unit, UNIT_ENUMERATION, NULL, target, scope);
		if (!unit->failed)
			unit->names[unit->name_count - 1].is_doubtful = true;
		/* fall through */
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		unit_add_using(unit, name, scope, target);
		/* fall through */
	case DW_TAG_typedef:
		unit_add_name(unit, UNIT_TYPE, name, target, scope);
		break;
	case DW_TAG_namespace:
	case DW_TAG_imported_declaration:
		unit_add_using(unit, name, scope, target);
		break;
	}
	for (; before < unit->name_count; before++)
		unit->names[before].is_imported = true;
}

/* dwz moves what several units have into partial ones. */
static void walk_partial(struct unit_walk *walk, Dwarf_Die *die, uint32_t scope)
{
	const void *last = walk->last;
	Dwarf_Die target;

	if (!dwarf_die_refer(die, DW_AT_import, &target) ||
	    dwarf_tag(&target) != DW_TAG_partial_unit ||
	    key_map_find(&walk->partials, key_map_key(target.addr)))
		return;
	if (key_map_add(&walk->partials, key_map_key(target.addr),
			target.addr)) {
		walk->unit->failed = true;
		return;
	}
	walk->last = NULL;
	unit_walk_children(walk, &target, scope);
	walk->last = last;
}

static void walk_type(struct unit_walk *walk, Dwarf_Die *die, uint32_t scope)
{
	const char *name = walk->nested ? dwarf_type_own_name(die) : NULL;

	if (name)
		unit_add_name(walk->unit, UNIT_TYPE, name, die, scope);
}

static void walk_container(struct unit_walk *walk, Dwarf_Die *die,
			   uint32_t scope)
{
	bool is_namespace = dwarf_tag(die) == DW_TAG_namespace ||
			    dwarf_tag(die) == DW_TAG_module;
	const char *name = dwarf_type_own_name(die);
	uint32_t inner = scope;

	if (name)
		inner = unit_add_scope(walk->unit, name, scope,
				       is_namespace ? UNIT_NAMESPACE :
						      UNIT_CLASS, die);
	if (dwarf_hasattr(die, DW_AT_export_symbols) && inner != scope)
		walk->unit->scopes[inner].is_inline = true;
	unit_add_member(walk->unit, die, inner);
	unit_walk_children(walk, die, inner);
}

/* Of an enumeration the names may be qualified by its own. */
static void walk_enumeration(struct unit_walk *walk, Dwarf_Die *die,
			     uint32_t scope)
{
	const char *name = dwarf_diename(die);
	uint32_t inner;

	if (name && walk->nested) {
		inner = unit_add_scope(walk->unit, name, scope, UNIT_ENUM, die);
		unit_add_member(walk->unit, die, inner);
		unit_add_name(walk->unit, UNIT_ENUMERATION, NULL, die, inner);
	}
	if (!dwarf_die_flag(die, DW_AT_enum_class))
		unit_add_name(walk->unit, UNIT_ENUMERATION, NULL, die, scope);
}

/* Where an entry is declared. What completes a declaration is in the scope of
 * that, which may come later: unit_fill() finds it. */
static void walk_declared(struct unit_walk *walk, Dwarf_Die *die,
			  uint32_t scope)
{
	Dwarf_Die root;

	if (!walk->nested)
		return;
	root = dwarf_die_root(die);
	if (root.addr == die->addr)
		unit_add_member(walk->unit, die, scope);
}

static void walk_variable(struct unit_walk *walk, Dwarf_Die *die,
			  uint32_t scope)
{
	const char *name = dwarf_diename(die);

	walk_declared(walk, die, scope);
	if (name || dwarf_tag(die) == DW_TAG_variable)
		unit_add_name(walk->unit, name ? UNIT_VARIABLE : UNIT_UNION,
			      name, die, scope);
}

static void walk_entry(struct unit_walk *walk, Dwarf_Die *die, uint32_t scope)
{
	struct unit *unit = walk->unit;
	int tag = dwarf_tag(die);
	Dwarf_Die other;

	switch (tag) {
	case DW_TAG_subprogram:
		walk_declared(walk, die, scope);
		unit_add_code(unit, die);
		/* clang puts the static variables of functions that are only
		 * inlined into a function without a name */
		if (dwarf_diename(die))
			break;
		for (dwarf_die_child(die, &other);
		     other.addr > walk->last && !unit->failed;
		     dwarf_die_sibling(&other)) {
			walk->last = other.addr;
			if (dwarf_tag(&other) == DW_TAG_variable &&
			    unit_grow(unit, orphans, orphan))
				unit->orphans[unit->orphan_count++] = other;
		}
		break;
	case DW_TAG_variable:
	case DW_TAG_constant:
		walk_variable(walk, die, scope);
		break;
	case DW_TAG_member:	/* static, up to DWARF 4 */
		if (dwarf_hasattr(die, DW_AT_external) ||
		    dwarf_hasattr(die, DW_AT_const_value))
			walk_variable(walk, die, scope);
		break;
	case DW_TAG_enumeration_type:
		walk_type(walk, die, scope);
		walk_enumeration(walk, die, scope);
		break;
	case DW_TAG_typedef:
	case DW_TAG_base_type:
		walk_type(walk, die, scope);
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
		walk_container(walk, die, scope);
		break;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		walk_type(walk, die, scope);
		if (walk->nested)
			walk_container(walk, die, scope);
		break;
	case DW_TAG_imported_declaration:
		if (dwarf_die_refer(die, DW_AT_import, &other))
			walk_imported(walk, dwarf_diename(die), &other, scope);
		break;
	case DW_TAG_imported_module:	/* all names of a namespace */
		if (dwarf_die_refer(die, DW_AT_import, &other))
			unit_add_using(unit, NULL, scope, &other);
		break;
	case DW_TAG_imported_unit:
		walk_partial(walk, die, scope);
		break;
	}
}

static void unit_walk_children(struct unit_walk *walk, Dwarf_Die *die,
			       uint32_t scope)
{
	Dwarf_Die child;

	if (++walk->depth <= SCOPES_DEEP)
		for (dwarf_die_child(die, &child);
		     child.addr > walk->last && !walk->unit->failed;
		     dwarf_die_sibling(&child)) {
			walk->last = child.addr;
			walk_entry(walk, &child, scope);
		}
	walk->depth--;
}

static void codes_sort(struct unit *unit)
{
	if (unit->code_count)
		qsort(unit->codes, unit->code_count, sizeof(*unit->codes),
		      array_compare);
}

/* The scope that the path of an entry in another unit has in this one */
static uint32_t unit_add_path(struct unit *unit, Dwarf_Die *die)
{
	char *path = dwarf_type_name(die), *name = path;
	uint32_t scope = 0;
	int depth = 0;

	for (char *at = path; at && *at; at++) {
		depth += *at == '<' ? 1 : *at == '>' ? -1 : 0;
		if (depth || at[0] != ':' || at[1] != ':')
			continue;
		*at = '\0';
		scope = unit_add_scope(unit, name, scope, UNIT_NAMESPACE, die);
		name = at + 2;
		at++;
	}
	free(path);
	return scope;
}

static void unit_fill(struct unit *unit)
{
	struct unit_walk walk = {
		.unit = unit, .nested = !dwarf_die_is_c(&unit->die),
	};
	size_t kept = 0;

	if (!unit_grow(unit, scopes, scope))
		return;
	unit->scopes[unit->scope_count++] = (struct unit_scope){
		.path = strdup(""), .name = "",
	};
	unit->failed = !unit->scopes[0].path;
	if (unit->failed)
		return;
	unit_walk_children(&walk, &unit->die, 0);
	key_map_free(&walk.partials);
	codes_sort(unit);
	/* Resolve references to entries that came later. */
	for (size_t i = 0; i < unit->name_count && !unit->failed; i++) {
		struct unit_name *name = &unit->names[i];
		Dwarf_Die root = dwarf_die_root(&name->die);

		if (!name->is_imported && root.addr != name->die.addr &&
		    !dwarf_unit_scope(unit, &root, &name->scope) &&
		    root.cu != unit->die.cu)
			name->scope = unit_add_path(unit, &root);
	}
	for (size_t i = 0; i < unit->using_count; i++) {
		struct unit_using *using = &unit->usings[i];
		Dwarf_Die import = using->import;

		if (dwarf_tag(&import) == DW_TAG_imported_declaration)
			dwarf_die_refer(&import, DW_AT_import, &using->import);
		if (dwarf_unit_scope(unit, &using->import, &using->target) &&
		    using->target != using->scope)
			unit->usings[kept++] = *using;
	}
	unit->using_count = kept;
}

static void unit_free(void *value)
{
	struct unit *unit = value;

	for (size_t i = 0; i < unit->scope_count; i++)
		free(unit->scopes[i].path);
	free(unit->scopes);
	free(unit->names);
	hash_index_free(&unit->index);
	free(unit->codes);
	key_map_free(&unit->members);
	free(unit->usings);
	free(unit->orphans);
	free(unit);
}

struct unit *dwarf_unit_get(struct dwarf_file *dwarf, Dwarf_Die *die)
{
	struct unit *unit = dwarf_memo_find(dwarf, DWARF_UNITS, die->addr);

	if (unit)
		return unit;
	unit = calloc(1, sizeof(*unit));
	if (!unit)
		return NULL;
	unit->die = *die;
	unit_fill(unit);
	if (!unit->failed)
		return dwarf_memo_add(dwarf, DWARF_UNITS, die->addr, unit,
				      unit_free);
	unit_free(unit);
	return NULL;
}

struct unit *dwarf_unit_next(struct dwarf_file *dwarf, Dwarf_CU **position,
			     bool *failed)
{
	struct unit *unit;
	Dwarf_Die die;

	*failed = false;
	do {
		if (dwarf_get_units(dwarf->dwarf, *position, position, NULL,
				    NULL, &die, NULL))
			return NULL;
	} while (!die.cu);
	dwarf_split_enter(dwarf, &die);
	unit = dwarf_unit_get(dwarf, &die);
	*failed = !unit;
	return unit;
}

static int nested_take(struct dwarf_walk *walk, Dwarf_Die *die, int tag)
{
	struct unit *unit = walk->context;

	if (tag == DW_TAG_subprogram)
		unit_add_code(unit, die);
	return unit->failed;
}

bool dwarf_unit_code(struct unit *unit, uint64_t pc, Dwarf_Die *function)
{
	struct dwarf_walk walk = { .take = nested_take, .context = unit };

	for (;;) {
		size_t at = array_count_upto(unit->codes, unit->code_count,
					     sizeof(*unit->codes), pc);

		if (at && pc < unit->codes[at - 1].end) {
			*function = unit->codes[at - 1].function;
			return true;
		}
		if (unit->has_nested)
			return false;
		/* Functions inside others (of GNU C, a lambda, a local class)
		 * are few: read them when one is asked about. */
		unit->has_nested = true;
		unit->code_count = 0;
		dwarf_walk_unit(&walk, &unit->die);
		codes_sort(unit);
	}
}

static uint32_t unit_name_hash(const char *name)
{
	return hash_fnv(HASH_FNV_START, name, strlen(name));
}

static void unit_index_add(struct unit *unit, const char *text, uint32_t name)
{
	if (!unit->failed &&
	    !hash_index_add(&unit->index, unit_name_hash(text), name))
		unit->failed = true;
}

/* All names by themselves: of an enumeration those of the constants, of an
 * anonymous union those of the members. */
static void index_make(struct unit *unit)
{
	for (size_t i = 0; i < unit->name_count; i++) {
		const struct unit_name *name = &unit->names[i];
		Dwarf_Die die = name->die, child = { 0 };
		Dwarf_Attribute attr;
		int tag = DW_TAG_member;

		if (name->kind == UNIT_VARIABLE || name->kind == UNIT_TYPE) {
			unit_index_add(unit, name->name, i);
			continue;
		}
		if (name->kind == UNIT_ENUMERATION)
			tag = DW_TAG_enumerator;
		else if (!dwarf_formref_die(dwarf_attr_integrate(&die,
						DW_AT_type, &attr), &die))
			continue;
		dwarf_die_each(&die, &child)
			if (dwarf_tag(&child) == tag && dwarf_diename(&child))
				unit_index_add(unit, dwarf_diename(&child), i);
	}
	if (!unit->failed && !hash_index_make(&unit->index))
		unit->failed = true;
}

const struct unit_name *
dwarf_unit_name_next(struct unit *unit, const char *name, uint32_t *position)
{
	uint32_t number;

	if (!unit->index.buckets && !unit->failed)
		index_make(unit);
	return !unit->failed &&
	       hash_index_next(&unit->index, unit_name_hash(name), position,
			       &number) ? &unit->names[number] : NULL;
}

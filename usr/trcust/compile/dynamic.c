// SPDX-License-Identifier: GPL-2.0
#include "dynamic.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define TYPES_MOST	8192	/* that are named */

static bool dynamic_add(struct dynamic_types *types,
			const struct dynamic_type *type, const char *name,
			size_t length)
{
	struct dynamic_type *added;

	if (types->count == TYPES_MOST)
		return true;
	if (!array_grow(&types->list, types->count, &types->room,
			sizeof(*types->list)))
		return false;
	added = &types->list[types->count];
	*added = *type;
	added->name = strndup(name, length);
	types->count += !!added->name;
	return added->name;
}

static int address_compare(const void *a, const void *b)
{
	const struct dynamic_type *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->value.addr == NULL) - (y->value.addr == NULL);
}

static void dynamic_sort(struct dynamic_types *types)
{
	size_t kept = 0;

	qsort(types->list, types->count, sizeof(*types->list),
	      address_compare);
	for (size_t i = 0; i < types->count; i++)
		if (!kept ||
		    types->list[kept - 1].address != types->list[i].address)
			types->list[kept++] = types->list[i];
		else
			free(types->list[i].name);
	types->count = kept;
}

/* Calls take for the entries of all units that are in no other entry. */
static bool entries_each(const struct compilation *c, void *context,
			 bool (*take)(void *context, Dwarf_Die *die))
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die root, die;

	while (!dwarf_get_units(c->dwarf->dwarf, unit, &unit, NULL, NULL, &root,
				NULL)) {
		if (dwarf_child(&root, &die))
			continue;
		do {
			if (!take(context, &die))
				return false;
		} while (dwarf_die_next(&die));
	}
	return true;
}

/* ---- Go ---- */

/* Attributes of Go (cmd/internal/dwarf) */
#define GO_KIND		0x2900
#define GO_RUNTIME_TYPE	0x2904	/* of the descriptor, from runtime.types on */

enum { KIND_ARRAY = 17, KIND_CHAN, KIND_FUNC, KIND_INTERFACE, KIND_MAP, KIND_PTR,
       KIND_STRUCT = 25, KIND_POINTER };

struct go_name {
	const char *text;
	size_t length;
};

struct go_types {
	const struct compilation *c;
	struct dynamic_types *types;
	uint64_t base;		/* runtime.types */
	const char *interface;	/* its name */
	bool any;		/* it has no methods: all types belong to it */
	struct go_name *implementers;	/* if it has */
	size_t count, room;
};

static bool go_descriptor(Dwarf_Die *die, uint64_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Addr address;

	if (dwarf_die_number(die, GO_RUNTIME_TYPE, offset))
		return *offset;
	if (!dwarf_attr(die, GO_RUNTIME_TYPE, &attr) ||
	    dwarf_formaddr(&attr, &address))
		return false;
	*offset = address;
	return address;
}

static unsigned int go_kind(Dwarf_Die *die)
{
	uint64_t kind;

	return dwarf_die_number(die, GO_KIND, &kind) ? kind & 31 : 0;
}

static int take_only(void *context, const struct dwarf_member *member)
{
	struct dwarf_member *only = context;

	*only = *member;
	return 0;
}

/* An interface has the value itself, not a pointer to it. */
static bool go_is_direct(Dwarf_Die *die)
{
	struct dwarf_member only = { 0 };
	Dwarf_Die bare;
	uint64_t bytes;

	switch (go_kind(die)) {
	case KIND_CHAN: case KIND_FUNC: case KIND_MAP: case KIND_PTR:
	case KIND_POINTER:
		return true;
	case KIND_STRUCT: case KIND_ARRAY:
		/* of one pointer: the descriptor has it in this form */
		if (!dwarf_type_bytes(die, &bytes) || bytes > 8)
			return bytes > 8 ? false : true;
		if (go_kind(die) == KIND_ARRAY) {
			bare = dwarf_type_bare(die);
			return bare.addr && bytes == 8 && go_is_direct(&bare);
		}
		dwarf_type_members(die, take_only, &only);
		if (!only.type.addr)
			return false;
		dwarf_type_peel(&only.type, &bare, NULL);
		return bytes == 8 && go_is_direct(&bare);
	default:
		return false;
	}
}

/* Types that Go has are 3, those of the program and usual errors 2. */
static int go_rank(const char *name)
{
	bool pointer = *name == '*';

	name += pointer;
	if (!strpbrk(name, ".*[{( "))
		return pointer ? 1 : 3;
	return !strncmp(name, "main.", 5) || !strncmp(name, "errors.", 7) ||
	       !strncmp(name, "fmt.wrapError", 13) ? 2 : 0;
}

/* What implements the interface: "go:itab.*os.File,io.Reader"; up to Go 1.19
 * "go.itab." */
static bool go_implementers_find(struct go_types *g)
{
	const struct module *module = g->c->module;
	size_t own = strlen(g->interface), name = strlen("go:itab.");

	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];
		const char *end = symbol->name + symbol->name_length - own - 1;

		if (symbol->name_length < name + own + 2 ||
		    memcmp(symbol->name, "go", 2) ||
		    memcmp(symbol->name + 3, "itab.", 5) || *end != ',' ||
		    memcmp(end + 1, g->interface, own))
			continue;
		if (!array_grow(&g->implementers, g->count, &g->room,
				sizeof(*g->implementers)))
			return false;
		g->implementers[g->count++] = (struct go_name){
			symbol->name + name, end - symbol->name - name,
		};
	}
	return true;
}

static bool go_implements(const struct go_types *g, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < g->count; i++)
		if (g->implementers[i].length == length &&
		    !memcmp(g->implementers[i].text, name, length))
			return true;
	return false;
}

static bool go_take(void *context, Dwarf_Die *die)
{
	struct go_types *g = context;
	struct dynamic_type type = { .rank = 0 };
	const char *name = dwarf_diename(die);
	uint64_t offset;
	Dwarf_Die bare;

	if (!name || !go_descriptor(die, &offset))
		return true;
	type.address = g->base + offset;
	type.rank = go_rank(name);
	if (dwarf_tag(die) != DW_TAG_typedef &&
	    (g->any ? type.rank : go_implements(g, name))) {
		bare = go_kind(die) == KIND_PTR ? dwarf_type_bare(die) : *die;
		if (bare.addr && (go_kind(die) == KIND_PTR ||
				  !go_is_direct(die)))
			type.value = bare;
	}
	return dynamic_add(g->types, &type, name, strlen(name));
}

static int go_types_find(const struct compilation *c,
			 const struct value_type *declared,
			 struct dynamic_types *types)
{
	Dwarf_Die die = declared->die, bare;
	struct go_types g = { .c = c, .types = types };
	const struct module_symbol *base;
	const char *own;
	bool others, done;

	dwarf_type_peel(&die, &bare, NULL);
	own = bare.addr ? dwarf_diename(&bare) : NULL;
	g.any = own && strstr(own, "eface");
	g.interface = dwarf_diename(&die) ? : "";
	base = module_symbol_find(c->module, "runtime.types", MODULE_DATA,
				  &others);
	if (!base)
		return 0;
	g.base = base->address;
	done = (g.any || go_implementers_find(&g)) &&
	       entries_each(c, &g, go_take);
	free(g.implementers);
	return done ? 0 : -ENOMEM;
}

/* ---- Rust ---- */

struct rust_types {
	struct dynamic_types *types;
	const char *trait;
	size_t length;
};

/* Up to what ends the name of a trait: "dyn app::Shape + core::marker::Send" */
static size_t rust_trait_length(const char *name)
{
	const char *p = name;
	int depth = 0;

	for (; *p; p++) {
		if (!depth && (strchr(",>)", *p) || !strncmp(p, " + ", 3)))
			break;
		depth += !!strchr("<([", *p);
		depth -= strchr(">)]", *p) && p[-1] != '-';
	}
	return p - name;
}

/* Of Fn<(u32), Output=u32> the vtable has Fn<(u32)>. */
static bool rust_is_trait(const struct rust_types *r, const char *trait,
			  size_t length)
{
	if (length == r->length && !memcmp(trait, r->trait, length))
		return true;
	return length > 1 && length < r->length && trait[length - 1] == '>' &&
	       !memcmp(trait, r->trait, length - 1) &&
	       r->trait[length - 1] == ',';
}

/* The variable "<app::Circle as app::Shape>::{vtable}" */
static bool rust_take(void *context, Dwarf_Die *die)
{
	static const char end[] = ">::{vtable}";
	struct rust_types *r = context;
	struct dynamic_type type = { .rank = 0 };
	const char *name = dwarf_diename(die), *as = NULL, *tail;
	Dwarf_Attribute attr;
	Dwarf_Die vtable;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_tag(die) != DW_TAG_variable || !name || *name != '<')
		return true;
	tail = strstr(name, end);
	for (const char *p = name; tail && (p = strstr(p, " as ")) && p < tail;
	     p += 4)
		if (rust_is_trait(r, p + 4, tail - p - 4))
			as = p;
	if (!as || tail[sizeof(end) - 1] ||
	    !dwarf_die_location(die, DW_AT_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &count) ||
	    !dwarf_die_address(&attr, ops, count, &type.address) ||
	    !type.address)
		return true;
	if (dwarf_type_of(die, &vtable))
		dwarf_die_refer(&vtable, DW_AT_containing_type, &type.value);
	return dynamic_add(r->types, &type, name + 1, as - name - 1);
}

static int rust_types_find(const struct compilation *c,
			   const struct value_type *declared,
			   struct dynamic_types *types)
{
	struct rust_types r = { .types = types };
	Dwarf_Die die = declared->die, bare;
	const char *name;

	dwarf_type_peel(&die, &bare, NULL);
	name = bare.addr ? dwarf_diename(&bare) : NULL;
	r.trait = name ? strstr(name, "dyn ") : NULL;
	if (!r.trait)
		return 0;
	r.trait += strlen("dyn ");
	r.length = rust_trait_length(r.trait);
	return entries_each(c, &r, rust_take) ? 0 : -ENOMEM;
}

/* ---- any language ---- */

int dynamic_types_find(const struct compilation *c,
		       const struct value_type *declared,
		       struct dynamic_types *types)
{
	Dwarf_Die unit, die = declared->die;
	int code = 0;

	memset(types, 0, sizeof(*types));
	if (!die.addr || !dwarf_diecu(&die, &unit, NULL, NULL))
		return 0;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_Go:
		code = go_types_find(c, declared, types);
		break;
	case DW_LANG_Rust:
		code = rust_types_find(c, declared, types);
		break;
	}
	dynamic_sort(types);
	return code;
}

void dynamic_types_free(struct dynamic_types *types)
{
	for (size_t i = 0; i < types->count; i++)
		free(types->list[i].name);
	free(types->list);
	memset(types, 0, sizeof(*types));
}

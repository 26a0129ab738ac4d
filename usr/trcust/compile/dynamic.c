// SPDX-License-Identifier: GPL-2.0
#include "dynamic.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis.h"
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

/* ---- C++ ---- */

#define BASES_DEEP	32	/* classes derived from each other */
#define EXCEPTION	"std::exception"	/* the library defines it */

struct class_info {		/* "typeinfo for ns::T" */
	char *name;
	uint64_t address;
};

struct class_types {
	const struct compilation *c;
	struct dynamic_types *types;
	char *base;		/* name of the declared class */
	struct class_info *infos;	/* by name */
	size_t count, room;
	bool *failed;		/* out of memory */
};

/* Stops at the first base class that has the property. */
static bool bases_any(Dwarf_Die *class, const void *context, unsigned int depth,
		      bool (*has)(Dwarf_Die *base, const void *context,
				  unsigned int depth))
{
	Dwarf_Die child, base;

	if (depth > BASES_DEEP || dwarf_child(class, &child))
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_inheritance)
			continue;
		base = dwarf_type_bare(&child);
		if (base.addr && has(&base, context, depth + 1))
			return true;
	} while (dwarf_die_next(&child));
	return false;
}

/* gcc and clang: "_vptr.T", "_vptr$T" */
static bool class_has_vtable(Dwarf_Die *class, const void *c,
			     unsigned int depth)
{
	const struct compilation *compilation = c;
	Dwarf_Die child;

	dwarf_type_complete(compilation->dwarf, class);
	if (dwarf_child(class, &child))
		return false;
	do {
		const char *name = dwarf_tag(&child) == DW_TAG_member ?
					   dwarf_diename(&child) : NULL;

		if (name && !strncmp(name, "_vptr", 5))
			return true;
	} while (dwarf_die_next(&child));
	return bases_any(class, c, depth, class_has_vtable);
}

bool dynamic_is_class(const struct compilation *c,
		      const struct value_type *type)
{
	Dwarf_Die bare, unit;

	char *name;
	bool known;

	if (!value_type_composed(c, type, &bare) ||
	    !dwarf_diecu(&bare, &unit, NULL, NULL) || !dwarf_die_is_cc(&unit))
		return false;
	if (!dwarf_type_is_declared_only(&bare))
		return class_has_vtable(&bare, c, 0);
	name = dwarf_type_name(&bare);
	if (!name && dwarf_diename(&bare))
		c->module->exhausted = true;
	known = name && !strcmp(name, EXCEPTION);
	free(name);
	return known;
}

static int info_compare(const void *a, const void *b)
{
	const struct class_info *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool class_infos_find(struct class_types *k)
{
	static const char start[] = "typeinfo for ";
	const struct module *module = k->c->module;

	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];
		char *name, *full;

		if (!symbol->defined || symbol->name_length < 5 ||
		    memcmp(symbol->name, "_ZTI", 4))
			continue;
		if (!array_grow(&k->infos, k->count, &k->room,
				sizeof(*k->infos)))
			return false;
		name = strndup(symbol->name, symbol->name_length);
		full = name ? demangle_symbol(name) : NULL;
		free(name);
		if (full && !strncmp(full, start, sizeof(start) - 1)) {
			memmove(full, full + sizeof(start) - 1,
				strlen(full) - sizeof(start) + 2);
			k->infos[k->count++] = (struct class_info){
				full, symbol->address,
			};
		} else {
			free(full);
		}
	}
	qsort(k->infos, k->count, sizeof(*k->infos), info_compare);
	return true;
}

/* The class has the name, or a base class that has it. What is derived from a
 * class of the library that is only declared is an exception. */
static bool class_derives(Dwarf_Die *class, const void *context,
			  unsigned int depth)
{
	const struct class_types *k = context;
	Dwarf_Die die = *class;
	char *name = dwarf_type_name(&die);
	bool same = name && !strcmp(name, k->base);

	*k->failed |= !name && dwarf_diename(&die);

	if (name && !same && dwarf_type_is_declared_only(&die))
		same = !strcmp(k->base, EXCEPTION) &&
		       !strncmp(name, "std::", 5) && depth;
	free(name);
	return same || bases_any(class, k, depth, class_derives);
}

static bool class_take(struct class_types *k, Dwarf_Die *die)
{
	struct dynamic_type type = { .value = *die, .rank = 2 };
	struct class_info key = { 0 }, *info;
	bool good = true;

	if (dwarf_type_is_declared_only(die) || !class_derives(die, k, 0))
		return true;
	key.name = dwarf_type_name(die);
	*k->failed |= !key.name && dwarf_diename(die);
	info = key.name && k->count ?
		       bsearch(&key, k->infos, k->count, sizeof(*k->infos),
			       info_compare) : NULL;
	if (info) {
		type.address = info->address;
		good = dynamic_add(k->types, &type, key.name,
				   strlen(key.name));
	}
	free(key.name);
	return good && !*k->failed;
}

/* Classes are in units, namespaces and other classes. */
static bool classes_take(struct class_types *k, Dwarf_Die *scope,
			 unsigned int depth)
{
	Dwarf_Die die;

	if (depth > BASES_DEEP || dwarf_child(scope, &die))
		return true;
	do {
		int tag = dwarf_tag(&die);
		bool class = tag == DW_TAG_class_type ||
			     tag == DW_TAG_structure_type;

		if ((class && !class_take(k, &die)) ||
		    ((class || tag == DW_TAG_namespace) &&
		     !classes_take(k, &die, depth + 1)))
			return false;
	} while (dwarf_die_next(&die));
	return true;
}

/* Without the blanks, *a begins with b, and becomes what follows. */
static bool takes_spaced(const char **a, const char *b, size_t length)
{
	const char *p = *a, *end = b + length;

	for (;; p++, b++) {
		p += strspn(p, " ");
		while (b < end && *b == ' ')
			b++;
		if (b == end || *p != *b)
			break;
	}
	*a = p;
	return b == end;
}

/* "std::_Function_handler<int (int), main::{lambda(int)#1}>::_M_invoke(...)" is
 * what calls the target of a std::function<int (int)>. */
static bool target_take(struct class_types *k,
			  const struct module_symbol *symbol)
{
	static const char start[] = "std::_Function_handler<";
	struct dynamic_type type = { .address = symbol->address };
	char *name = strndup(symbol->name, symbol->name_length);
	char *full = name ? demangle_symbol(name) : NULL;
	bool good = full || (name && errno != ENOMEM);
	const char *end = full ? strstr(full, ">::_M_invoke(") : NULL;
	const char *at = full ? full + sizeof(start) - 1 : NULL;
	size_t signature = strlen(k->base) - strlen("std::function<>");

	if (end && !strncmp(full, start, sizeof(start) - 1) &&
	    takes_spaced(&at, k->base + strlen("std::function<"), signature) &&
	    !strncmp(at, ", ", 2))
		good = dynamic_add(k->types, &type, at + 2, end - at - 2);
	free(full);
	free(name);
	return good;
}

static bool targets_take(struct class_types *k)
{
	const struct module *module = k->c->module;
	bool good = true;

	for (size_t i = 0; good && i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];

		if (symbol->defined && symbol->type == STT_FUNC &&
		    memmem(symbol->name, symbol->name_length,
			   "_Function_handler", strlen("_Function_handler")))
			good = target_take(k, symbol);
	}
	return good;
}

static int class_types_find(const struct compilation *c,
			    const struct value_type *declared,
			    struct dynamic_types *types)
{
	bool failed = false, done;
	struct class_types k = { .c = c, .types = types, .failed = &failed };
	struct dynamic_type other = {
		.value = declared->die, .other = true, .rank = 3,
		.address = UINT64_MAX,
	};
	Dwarf_Die bare, root;
	Dwarf_CU *unit = NULL;

	dwarf_type_peel(&declared->die, &bare, NULL);
	k.base = bare.addr ? dwarf_type_name(&bare) : NULL;
	if (!k.base)
		return bare.addr && dwarf_diename(&bare) ? -ENOMEM : 0;
	if (!strncmp(k.base, "std::function<", strlen("std::function<"))) {
		done = targets_take(&k);
		free(k.base);
		return done ? 0 : -ENOMEM;
	}
	done = class_infos_find(&k);
	while (done && !dwarf_get_units(c->dwarf->dwarf, unit, &unit, NULL,
					NULL, &root, NULL))
		done = !dwarf_die_is_cc(&root) || classes_take(&k, &root, 0);
	done = done && dynamic_add(types, &other, k.base, strlen(k.base));
	for (size_t i = 0; i < k.count; i++)
		free(k.infos[i].name);
	free(k.infos);
	free(k.base);
	return done && !failed ? 0 : -ENOMEM;
}

/* ---- any language ---- */

struct dynamic_known {
	struct dynamic_known *next;
	const void *entry;	/* of the declared type */
	struct dynamic_types types;
};

void dynamic_forget(struct dynamic_known *known)
{
	while (known) {
		struct dynamic_known *next = known->next;

		dynamic_types_free(&known->types);
		free(known);
		known = next;
	}
}

static int dynamic_copy(const struct dynamic_types *from,
			struct dynamic_types *to)
{
	for (size_t i = 0; i < from->count; i++)
		if (!dynamic_add(to, &from->list[i], from->list[i].name,
				 strlen(from->list[i].name)))
			return -ENOMEM;
	return 0;
}

/* The debug information of all units is read for it. */
static int dynamic_search(const struct compilation *c,
			const struct value_type *declared,
			struct dynamic_types *types)
{
	Dwarf_Die unit, die = declared->die;
	int code = 0;

	if (!die.addr || !dwarf_diecu(&die, &unit, NULL, NULL))
		return 0;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_Go:
		code = go_types_find(c, declared, types);
		break;
	case DW_LANG_Rust:
		code = rust_types_find(c, declared, types);
		break;
	default:
		if (dwarf_die_is_cc(&unit))
			code = class_types_find(c, declared, types);
	}
	dynamic_sort(types);
	return code;
}

int dynamic_types_find(const struct compilation *c,
		       const struct value_type *declared,
		       struct dynamic_types *types)
{
	struct dynamic_known *known = c->analysis ? c->analysis->dynamic : NULL;
	int code;

	memset(types, 0, sizeof(*types));
	while (known && known->entry != declared->die.addr)
		known = known->next;
	if (known)
		return dynamic_copy(&known->types, types);
	code = dynamic_search(c, declared, types);
	known = code || !c->analysis ? NULL : calloc(1, sizeof(*known));
	if (!known)
		return code;
	known->entry = declared->die.addr;
	if (dynamic_copy(types, &known->types)) {
		dynamic_forget(known);
		return -ENOMEM;
	}
	known->next = c->analysis->dynamic;
	c->analysis->dynamic = known;
	return 0;
}

void dynamic_types_free(struct dynamic_types *types)
{
	for (size_t i = 0; i < types->count; i++)
		free(types->list[i].name);
	free(types->list);
	memset(types, 0, sizeof(*types));
}

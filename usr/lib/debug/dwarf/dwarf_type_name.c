// SPDX-License-Identifier: GPL-2.0
/*
 * Names of types. An entry's scope is found by going down from its unit: an
 * entry's children are between it and its next sibling.
 */
#include "dwarf_type.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX	64	/* of scopes; of types of types */
#define DECLARATOR_MAX	256

bool dwarf_type_is_tagless(Dwarf_Die *type)
{
	Dwarf_Die unit;
	int language;

	if (!dwarf_diecu(type, &unit, NULL, NULL))
		return false;
	language = dwarf_srclang(&unit);
	return !dwarf_die_is_c(&unit) && language != DW_LANG_ObjC &&
	       language != -1;
}

const char *dwarf_type_own_name(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	Dwarf_Die type;

	return !name && dwarf_die_refer(die, DW_AT_signature, &type) ?
	       dwarf_diename(&type) : name;
}

bool dwarf_type_is_scope(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return dwarf_type_own_name(die);
	default:
		return false;
	}
}

char *dwarf_type_name(Dwarf_Die *type)
{
	const char *own = dwarf_diename(type);
	Dwarf_Die scopes[DEPTH_MAX], at, root = *type;
	char *path = NULL, *around = NULL;
	int depth = 0, first;
	size_t size;
	FILE *out;

	/* the declaration that the entry defines, or the entry */
	for (int steps = 0; steps < DEPTH_MAX && dwarf_die_refer(&root,
			DW_AT_specification, &at); steps++)
		root = at;
	if (!own || !dwarf_type_is_tagless(type) ||
	    !dwarf_diecu(&root, &at, NULL, NULL))
		return own ? strdup(own) : NULL;
	while (depth < DEPTH_MAX && dwarf_die_enter(&at, root.addr) &&
	       at.addr != root.addr)
		scopes[depth++] = at;
	out = open_memstream(&path, &size);
	if (!out)
		return NULL;
	/* a class around it may be defined elsewhere than it is declared */
	first = depth;
	while (first > 0 && !dwarf_hasattr(&scopes[first - 1],
					   DW_AT_specification))
		first--;
	if (first)
		around = dwarf_type_name(&scopes[first - 1]);
	if (around)
		fprintf(out, "%s::", around);
	free(around);
	for (int i = first; i < depth; i++)
		if (dwarf_type_is_scope(&scopes[i]))
			fprintf(out, "%s::", dwarf_type_own_name(&scopes[i]));
	fputs(own, out);
	return fclose(out) ? NULL : path;
}

/* A declarator as C writes it: "*", "(*)[3]", "[2][3]", cut at its size. */
struct declarator {
	char text[DECLARATOR_MAX];
};

static void declarator_point(struct declarator *d, bool wrapped)
{
	struct declarator inner = *d;

	snprintf(d->text, sizeof(d->text), wrapped ? "(*%.*s)" : "*%.*s",
		 DECLARATOR_MAX - 4, inner.text);
}

static void declarator_add(struct declarator *d, const char *text)
{
	size_t used = strlen(d->text);

	snprintf(d->text + used, sizeof(d->text) - used, "%s", text);
}

static bool is_wrapped(enum dwarf_type_kind kind)
{
	return kind == DWARF_TYPE_ARRAY || kind == DWARF_TYPE_FUNCTION;
}

static const char *declared_tag(Dwarf_Die *bare)
{
	switch (dwarf_type_kind(bare)) {
	case DWARF_TYPE_STRUCT:
		return "struct ";
	case DWARF_TYPE_UNION:
		return "union ";
	case DWARF_TYPE_ENUM:
		return "enum ";
	default:
		return "";
	}
}

char *dwarf_type_spell(const Dwarf_Die *type, unsigned int dimension,
		       unsigned int pointers)
{
	struct declarator d = { "" };
	const char *alias = NULL, *tag;
	Dwarf_Die bare;
	char *own, *name;
	bool number;

	dwarf_type_peel(type, &bare, &alias);
	while (pointers--)
		declarator_point(&d, !pointers &&
				     is_wrapped(dwarf_type_kind(&bare)));
	/* Move what is around a name from the type into the declarator. */
	for (int steps = 0; steps < DEPTH_MAX; steps++) {
		enum dwarf_type_kind kind = dwarf_type_kind(&bare);
		Dwarf_Die next = { 0 };
		char text[32] = "()";
		uint64_t count;

		if (!is_wrapped(kind) && kind != DWARF_TYPE_POINTER &&
		    kind != DWARF_TYPE_REFERENCE)
			break;
		alias = NULL;
		if (dwarf_type_of(&bare, &next))
			dwarf_type_peel(&next, &next, &alias);
		if (kind == DWARF_TYPE_FUNCTION)
			declarator_add(&d, text);
		else if (kind != DWARF_TYPE_ARRAY)
			declarator_point(&d,
					 is_wrapped(dwarf_type_kind(&next)));
		if (kind == DWARF_TYPE_REFERENCE)
			*strchr(d.text, '*') = '&';
		for (; kind == DWARF_TYPE_ARRAY && dimension < DEPTH_MAX &&
		       dwarf_type_dimension(&bare, dimension, &count);
		     dimension++) {
			snprintf(text, sizeof(text), "[%" PRIu64 "]", count);
			declarator_add(&d, count ? text : "[]");
		}
		dimension = 0;
		bare = next;
	}
	own = bare.addr ? dwarf_type_name(&bare) : strdup("void");
	if (!own && (!bare.addr || dwarf_diename(&bare)))
		return NULL;
	number = dwarf_type_alias_is_number(alias);
	tag = "";
	if (bare.addr && !dwarf_type_is_tagless(&bare) &&
	    (!alias || (own && !number)))
		tag = declared_tag(&bare);
	if (asprintf(&name, "%s%s%s%s", tag,
		     own && !number ? own : alias ? alias : "(unnamed)",
		     *d.text && *d.text != '[' ? " " : "", d.text) < 0)
		name = NULL;
	free(own);
	return name;
}

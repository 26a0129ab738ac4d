// SPDX-License-Identifier: GPL-2.0
/* Types by name, as a function sees them. */
#include <errno.h>
#include <string.h>
#include "dwarf_lookup.h"
#include "dwarf_type_search.h"

/* Types of the blocks around it, or of what they are copies of, the innermost
 * first. *loose: one outside may be meant as well. */
static void search_blocks(struct type_search *search,
			  struct dwarf_file *dwarf,
			  const struct dwarf_from *from, bool *loose)
{
	struct dwarf_scopes scopes;

	*loose = false;
	if (dwarf_scopes_find_from(dwarf, from, &scopes))
		return;
	for (size_t i = scopes.count; i--; ) {
		const struct dwarf_block *block =
			&scopes.blocks->list[scopes.numbers[i]];
		Dwarf_Die die = block->die;
		bool found = block->types &&
			     dwarf_type_search_block(search, &die);

		for (int k = 0; k < DWARF_ORIGINS_MAX && !found &&
				dwarf_die_origin(&die); k++)
			found = dwarf_type_search_block(search, &die);
		if (found) {
			*loose = dwarf_scope_is_loose(&scopes, i);
			return;
		}
	}
}

/* Names of a C++ unit have scopes: as the function sees them. */
static int search_scopes(struct type_search *search, struct dwarf_file *dwarf,
			 const struct dwarf_from *from, const char *name)
{
	struct dwarf_named found[2];
	struct dwarf_scopes scopes;
	struct dwarf_lookup lookup = {
		.dwarf = dwarf, .scopes = &scopes, .name = name, .types = true,
		.tag = search->tag,
	};
	int code = dwarf_scopes_find_from(dwarf, from, &scopes);

	if (!code)
		code = dwarf_lookup_find(&lookup, found);
	if (code && code != -ENOTUNIQ)
		return code;
	for (int i = 0; i <= (code == -ENOTUNIQ); i++) {
		search->found[i] = found[i].die;
		if (!dwarf_type_complete(dwarf, &search->found[i]))
			return -ENOENT;
	}
	return code;
}

int dwarf_type_find(struct dwarf_file *dwarf, const struct dwarf_from *from,
		    const char *tag, const char *name, Dwarf_Die type[2])
{
	Dwarf_Die found[2] = { { 0 } }, unit;
	struct type_search search = {
		.tag = tag, .name = name, .found = found, .code = -ENOENT,
	};
	bool in_unit = dwarf_unit_find(dwarf, from->pc, &unit), loose = false;
	Dwarf_Die inside;

	search.absolute = !strncmp(name, "::", 2);
	search.name += search.absolute ? 2 : 0;
	if (in_unit)
		search_blocks(&search, dwarf, from, &loose);
	inside = found[0];
	if (in_unit && (search.code == -ENOENT || loose))
		search.code = dwarf_type_is_tagless(&unit) ?
			search_scopes(&search, dwarf, from, name) :
			dwarf_type_search_unit(&search, dwarf, &unit);
	if (loose) {
		found[1] = found[0];
		found[0] = inside;
		search.code =
			search.code == -ENOMEM ? -ENOMEM
			: search.code || dwarf_type_same(&inside, &found[1])
				? 0
				: -ENOTUNIQ;
	} else if (search.code == -ENOENT) {
		bool known = !in_unit || search.is_declared;

		dwarf_type_search_unit(&search, dwarf, NULL);
		search.code = search.code || known ? search.code : 1;
	}
	memcpy(type, found, sizeof(found));
	return search.code;
}

// SPDX-License-Identifier: GPL-2.0
#include "symbol_inlined.h"

#if SYMBOL_LIBRARY

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define SCOPES_DEEP	128	/* entries in entries */

struct symbol_unit {
	struct unit_ranges ranges;	/* of numbers of functions */
	Dwarf_Die *functions;
	size_t count, room;
};

/*
 * The entry in its unit's table of offsets to range lists (DWARF 5, section 7.28)
 * points into the section. libdw doesn't check that: an entry of 64 bits may
 * point anywhere.
 */
static bool list_is_within(const struct symbol_scopes *scopes, Dwarf_Die *die)
{
	const struct symbol_library *library = scopes->library;
	Dwarf_Attribute ranges, attribute;
	size_t size = scopes->lists.size;
	uint8_t address_bytes, offset_bytes;
	Dwarf_Word index, base;
	Dwarf_Die unit;
	uint64_t offset;

	if (!library->dwarf_attr(die, DW_AT_ranges, &ranges) ||
	    ranges.form != DW_FORM_rnglistx ||
	    !library->dwarf_diecu(die, &unit, &address_bytes, &offset_bytes) ||
	    offset_bytes != sizeof(offset))
		return true;
	ranges.form = DW_FORM_udata;
	if (library->dwarf_formudata(&ranges, &index) ||
	    !library->dwarf_attr(&unit, DW_AT_rnglists_base, &attribute) ||
	    library->dwarf_formudata(&attribute, &base) ||
	    size < sizeof(offset) || base > size - sizeof(offset) ||
	    index > (size - sizeof(offset) - base) / sizeof(offset))
		return false;
	memcpy(&offset, scopes->lists.data + base + index * sizeof(offset),
	       sizeof(offset));
	return offset < size - base;
}

ptrdiff_t symbol_scope_range(const struct symbol_scopes *scopes, Dwarf_Die *die,
			     ptrdiff_t at, Dwarf_Addr *base, Dwarf_Addr *start,
			     Dwarf_Addr *end)
{
	if (!at && !list_is_within(scopes, die))
		return 0;
	return scopes->library->dwarf_ranges(die, at, base, start, end);
}

/* The next entry in `die` after *child, or the first one; *last is the last one
 * that was visited: damaged siblings go back. */
static bool child_next(const struct symbol_library *library, Dwarf_Die *die,
		       Dwarf_Die *child, const void **last)
{
	int code = child->addr ? library->dwarf_siblingof(child, child) :
				 library->dwarf_child(die, child);

	if (code || child->addr <= *last)
		return false;
	*last = child->addr;
	return true;
}

/* False: no memory. */
static bool symbol_function_add(const struct symbol_scopes *scopes,
			 struct symbol_unit *unit, Dwarf_Die *die)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t at = 0;

	if (!array_grow(&unit->functions, unit->count, &unit->room,
			sizeof(*unit->functions)))
		return false;
	unit->functions[unit->count++] = *die;
	while ((at = symbol_scope_range(scopes, die, at, &base, &start,
					&end)) > 0)
		if (start < end &&
		    !unit_ranges_add(&unit->ranges, start, end,
				     unit->count - 1))
			return false;
	return true;
}

/* Functions of namespaces and classes, and in other functions. False: no memory. */
static bool symbol_functions_read(const struct symbol_scopes *scopes,
			   struct symbol_unit *unit, Dwarf_Die *die,
			   unsigned int depth, const void **last)
{
	Dwarf_Die child = { 0 };

	while (depth < SCOPES_DEEP &&
	       child_next(scopes->library, die, &child, last)) {
		switch (scopes->library->dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (!symbol_function_add(scopes, unit, &child))
				return false;
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_lexical_block:
			break;
		default:
			continue;
		}
		if (!symbol_functions_read(scopes, unit, &child, depth + 1, last))
			return false;
	}
	return true;
}

static void symbol_unit_free(struct symbol_unit *unit)
{
	free(unit->ranges.list);
	free(unit->functions);
	free(unit);
}

/* NULL: no memory. */
static struct symbol_unit *symbol_unit_get(struct symbol_scopes *scopes,
					   Dwarf_Die *die)
{
	uint64_t key = key_map_key(die->addr);
	struct symbol_unit *unit = key_map_find(&scopes->units, key);
	const void *last = die->addr;

	if (unit)
		return unit;
	unit = calloc(1, sizeof(*unit));
	if (unit && symbol_functions_read(scopes, unit, die, 0, &last)) {
		unit_ranges_sort(&unit->ranges);
		if (!key_map_add(&scopes->units, key, unit))
			return unit;
	}
	if (unit)
		symbol_unit_free(unit);
	return NULL;
}

/* A block without addresses of its own has those around it. */
static bool scope_has(const struct symbol_scopes *scopes, Dwarf_Die *die,
		      uint64_t address, bool is_block)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t at = 0;
	bool any = false;

	while ((at = symbol_scope_range(scopes, die, at, &base, &start,
					&end)) > 0) {
		any |= start < end;
		if (address - start < end - start && start < end)
			return true;
	}
	return is_block && !any;
}

static size_t copies_find(const struct symbol_scopes *scopes, Dwarf_Die *die,
			  uint64_t address, Dwarf_Die *copies, size_t count,
			  unsigned int depth, const void **last)
{
	Dwarf_Die child = { 0 };

	while (depth < SCOPES_DEEP && count < SYMBOL_INLINED_MOST &&
	       child_next(scopes->library, die, &child, last)) {
		int tag = scopes->library->dwarf_tag(&child);
		bool inlined = tag == DW_TAG_inlined_subroutine;
		size_t found;

		if ((!inlined && tag != DW_TAG_lexical_block &&
		     tag != DW_TAG_try_block && tag != DW_TAG_catch_block) ||
		    !scope_has(scopes, &child, address, !inlined))
			continue;
		if (inlined)
			copies[count++] = child;
		found = copies_find(scopes, &child, address, copies, count,
				    depth + 1, last);
		if (inlined || found > count)
			return found;
	}
	return count;
}

size_t symbol_inlined_find(struct symbol_scopes *scopes, Dwarf_Die *unit,
			   uint64_t address,
			   Dwarf_Die copies[SYMBOL_INLINED_MOST], bool *failed)
{
	struct symbol_unit *known = symbol_unit_get(scopes, unit);
	uint64_t number;
	const void *last;

	*failed |= !known;
	if (!known || !unit_ranges_find(&known->ranges, address, &number))
		return 0;
	last = known->functions[number].addr;
	return copies_find(scopes, &known->functions[number], address, copies,
			   0, 0, &last);
}

const char *symbol_inlined_name(const struct symbol_scopes *scopes,
				Dwarf_Die *copy)
{
	static const unsigned int names[] = {
		DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name,
	};
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (scopes->library->dwarf_attr_integrate(copy, names[i],
							  &attribute))
			return scopes->library->dwarf_formstring(&attribute);
	return NULL;
}

void symbol_scopes_free(struct symbol_scopes *scopes)
{
	struct symbol_unit *unit;
	size_t at = 0;

	while ((unit = key_map_next(&scopes->units, &at)))
		symbol_unit_free(unit);
	key_map_free(&scopes->units);
}

#endif

// SPDX-License-Identifier: GPL-2.0
#include "symbol_library.h"

#if SYMBOL_LIBRARY

#include "symbol_units.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define RANGES_MAX	(1 << 22)	/* units may share what they say */

static bool range_add(struct symbol_units *units, uint64_t start, uint64_t end,
		      Dwarf_Die *unit)
{
	if (units->count == RANGES_MAX)
		return true;
	if (!array_grow(&units->ranges, units->count, &units->room,
			sizeof(*units->ranges)))
		return false;
	units->ranges[units->count++] = (struct symbol_range){
		start, end, unit,
	};
	return true;
}

/* Of ranges with one start the longest first; others get what it leaves. */
static int range_compare(const void *a, const void *b)
{
	const struct symbol_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static void ranges_sort(struct symbol_units *units)
{
	uint64_t covered = 0;
	size_t kept = 0;

	if (units->count)
		qsort(units->ranges, units->count, sizeof(*units->ranges),
		      range_compare);
	for (size_t i = 0; i < units->count; i++) {
		struct symbol_range range = units->ranges[i];

		if (range.start < covered)
			range.start = covered;
		if (range.start >= range.end)
			continue;
		covered = range.end;
		units->ranges[kept++] = range;
	}
	units->count = kept;
}

/*
 * The unit's entry in the table of offsets to range lists (DWARF 5, section 7.28)
 * points into the section. libdw doesn't check that: an entry of 64 bits may
 * point anywhere.
 */
static bool list_is_within(const struct symbol_units *units,
			   const struct symbol_library *library,
			   Dwarf_Die *unit)
{
	Dwarf_Attribute ranges, attribute;
	size_t size = units->lists.size;
	uint8_t address_bytes, offset_bytes;
	Dwarf_Die whole;
	Dwarf_Word index, base;
	uint64_t offset;

	if (!library->dwarf_attr(unit, DW_AT_ranges, &ranges) ||
	    ranges.form != DW_FORM_rnglistx ||
	    !library->dwarf_diecu(unit, &whole, &address_bytes,
				  &offset_bytes) ||
	    offset_bytes != sizeof(offset))
		return true;
	ranges.form = DW_FORM_udata;
	if (library->dwarf_formudata(&ranges, &index) ||
	    !library->dwarf_attr(unit, DW_AT_rnglists_base, &attribute) ||
	    library->dwarf_formudata(&attribute, &base) ||
	    size < sizeof(offset) || base > size - sizeof(offset) ||
	    index > (size - sizeof(offset) - base) / sizeof(offset))
		return false;
	memcpy(&offset, units->lists.data + base + index * sizeof(offset),
	       sizeof(offset));
	return offset < size - base;
}

ptrdiff_t symbol_units_range(const struct symbol_units *units,
			     const struct symbol_library *library,
			     Dwarf_Die *unit, ptrdiff_t at,
			     Dwarf_Addr *base, Dwarf_Addr *start,
			     Dwarf_Addr *end)
{
	if (!at && !list_is_within(units, library, unit))
		return 0;
	return library->dwarf_ranges(unit, at, base, start, end);
}

bool symbol_units_read(struct symbol_units *units,
		       const struct symbol_library *library,
		       Dwfl_Module *module,
		       bool (*is_code)(const void *context, uint64_t address),
		       const void *context)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;
	bool good = true;

	while (good &&
	       (unit = library->dwfl_module_nextcu(module, unit, &bias))) {
		Dwarf_Addr base = 0, start, end;
		ptrdiff_t at = 0;

		while (good && (at = symbol_units_range(units, library, unit,
							at, &base, &start,
							&end)) > 0)
			if (start < end && is_code(context, start))
				good = range_add(units, start, end, unit);
	}
	ranges_sort(units);
	return good;
}

Dwarf_Die *symbol_units_find(const struct symbol_units *units,
			     uint64_t address)
{
	size_t at = array_count_upto(units->ranges, units->count,
				     sizeof(*units->ranges), address);

	return at && address < units->ranges[at - 1].end ?
	       units->ranges[at - 1].unit : NULL;
}

void symbol_units_free(struct symbol_units *units)
{
	free(units->ranges);
	*units = (struct symbol_units){ 0 };
}

#endif

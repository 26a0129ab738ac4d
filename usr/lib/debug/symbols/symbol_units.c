// SPDX-License-Identifier: GPL-2.0
#include "symbol_library.h"

#if SYMBOL_LIBRARY

#include "symbol_units.h"

#include <dwarf.h>
#include <string.h>

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
				good = unit_ranges_add(&units->ranges, start,
						       end, (uintptr_t)unit);
	}
	unit_ranges_sort(&units->ranges);
	return good;
}

Dwarf_Die *symbol_units_find(const struct symbol_units *units,
			     uint64_t address)
{
	uint64_t unit;

	return unit_ranges_find(&units->ranges, address, &unit) ?
	       (Dwarf_Die *)(uintptr_t)unit : NULL;
}

#endif

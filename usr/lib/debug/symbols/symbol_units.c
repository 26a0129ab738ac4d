// SPDX-License-Identifier: GPL-2.0
#include "symbol_units.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define AT_RANGES	0x55		/* DWARF 5, section 7.5.4 */
#define AT_RNGLISTS_BASE 0x74
#define FORM_UDATA	0x0f		/* section 7.5.6 */
#define FORM_RNGLISTX	0x23

#define RANGES_MAX	(1 << 22)	/* units may share what they say */

static bool range_add(struct symbol_units *units, uint64_t start, uint64_t end,
		      struct dwarf_entry *unit)
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

/* The longer one first: what it leaves uncovered can be another's. */
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
 * The entry of the table of offsets that the unit's ranges are at (DWARF 5,
 * section 7.28) leads into the section. libdw doesn't look: one of 64 bits leads
 * anywhere.
 */
static bool list_is_within(const struct symbol_units *units,
			   const struct symbol_library *library,
			   struct dwarf_entry *unit)
{
	struct dwarf_attribute ranges, attribute;
	size_t size = units->lists.size;
	uint8_t address_bytes, offset_bytes;
	struct dwarf_unit_entry whole;
	Elf64_Xword index, base;
	uint64_t offset;

	if (!library->attribute(unit, AT_RANGES, &ranges) ||
	    ranges.form != FORM_RNGLISTX ||
	    !library->unit_sizes(unit, &whole, &address_bytes, &offset_bytes) ||
	    offset_bytes != sizeof(offset))
		return true;
	ranges.form = FORM_UDATA;
	if (library->attribute_number(&ranges, &index) ||
	    !library->attribute(unit, AT_RNGLISTS_BASE, &attribute) ||
	    library->attribute_number(&attribute, &base) ||
	    size < sizeof(offset) || base > size - sizeof(offset) ||
	    index > (size - sizeof(offset) - base) / sizeof(offset))
		return false;
	memcpy(&offset, units->lists.data + base + index * sizeof(offset),
	       sizeof(offset));
	return offset < size - base;
}

ptrdiff_t symbol_units_range(const struct symbol_units *units,
			     const struct symbol_library *library,
			     struct dwarf_entry *unit, ptrdiff_t at,
			     Elf64_Addr *base, Elf64_Addr *start,
			     Elf64_Addr *end)
{
	if (!at && !list_is_within(units, library, unit))
		return 0;
	return library->ranges(unit, at, base, start, end);
}

bool symbol_units_read(struct symbol_units *units,
		       const struct symbol_library *library,
		       struct dwfl_module *module,
		       bool (*is_code)(const void *context, uint64_t address),
		       const void *context)
{
	struct dwarf_entry *unit = NULL;
	Elf64_Addr bias;
	bool good = true;

	while (good && (unit = library->unit_next(module, unit, &bias))) {
		Elf64_Addr base = 0, start, end;
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

struct dwarf_entry *symbol_units_find(const struct symbol_units *units,
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

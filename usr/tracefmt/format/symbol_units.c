// SPDX-License-Identifier: GPL-2.0
#include "symbol_units.h"

#include <stdlib.h>
#include "../../lib/array.h"

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

		while (good && (at = library->ranges(unit, at, &base, &start,
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

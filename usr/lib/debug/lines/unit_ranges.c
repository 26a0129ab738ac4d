// SPDX-License-Identifier: GPL-2.0
#include "unit_ranges.h"

#include <stdlib.h>
#include "lib/array.h"

#define RANGES_MAX	(1 << 22)	/* damaged units may share their ranges */

bool unit_ranges_add(struct unit_ranges *ranges, uint64_t start, uint64_t end,
		     uint64_t unit)
{
	if (ranges->count == RANGES_MAX)
		return true;
	if (!array_grow(&ranges->list, ranges->count, &ranges->room,
			sizeof(*ranges->list)))
		return false;
	ranges->list[ranges->count++] = (struct unit_range){ start, end, unit };
	return true;
}

/* The longest first: what it leaves uncovered can be another's. */
static int unit_range_compare(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

/* Of a function that several units define the linker keeps one copy, and all of
 * them may have its range: the first unit gets it. */
void unit_ranges_sort(struct unit_ranges *ranges)
{
	uint64_t covered = 0;
	size_t kept = 0;

	if (ranges->count)
		qsort(ranges->list, ranges->count, sizeof(*ranges->list),
		      unit_range_compare);
	for (size_t i = 0; i < ranges->count; i++) {
		struct unit_range range = ranges->list[i];

		if (range.start < covered)
			range.start = covered;
		if (range.start >= range.end)
			continue;
		covered = range.end;
		ranges->list[kept++] = range;
	}
	ranges->count = kept;
}

bool unit_ranges_find(const struct unit_ranges *ranges, uint64_t address,
		      uint64_t *unit)
{
	size_t at = array_count_upto(ranges->list, ranges->count,
				     sizeof(*ranges->list), address);

	if (!at || address >= ranges->list[at - 1].end)
		return false;
	*unit = ranges->list[at - 1].unit;
	return true;
}

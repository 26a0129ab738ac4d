/* SPDX-License-Identifier: GPL-2.0 */
/* Which unit of debug information has the code at an address, by each unit's own
 * ranges: .debug_aranges, which libdw uses, is optional (clang omits it). */
#ifndef DEBUG_UNIT_RANGES_H
#define DEBUG_UNIT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unit_ranges {
	struct unit_range {
		uint64_t start, end;
		uint64_t unit;		/* the caller's number for it */
	} *list;
	size_t count, room;
};

/* False: no memory. */
bool unit_ranges_add(struct unit_ranges *ranges, uint64_t start, uint64_t end,
		     uint64_t unit);
/* Call it after the last one was added. */
void unit_ranges_sort(struct unit_ranges *ranges);
bool unit_ranges_find(const struct unit_ranges *ranges, uint64_t address,
		      uint64_t *unit);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Lists of numbers: "5,7-9,0x10-0x1f", "100-" (and all above). */
#ifndef TRACEFMT_RANGES_H
#define TRACEFMT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

struct number_range {
	uint64_t first, last;
};

/* Ascending, with gaps between them. */
struct ranges {
	struct number_range *items;
	size_t count;
};

/* Add the list's numbers, none above `most`. 0, or a negative errno with err
 * set and the ranges as they were. */
int ranges_add(struct ranges *ranges, const char *list, uint64_t most,
	       struct error *err);
bool ranges_have(const struct ranges *ranges, uint64_t number);
void ranges_free(struct ranges *ranges);
/* "5", "0x10" at p: decimal, also with leading zeros, or hexadecimal; the end,
 * or p when there is none. Too large ones are UINT64_MAX. */
const char *ranges_number(const char *p, uint64_t *number);

#endif

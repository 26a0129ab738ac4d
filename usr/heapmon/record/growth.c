// SPDX-License-Identifier: GPL-2.0
#include "growth.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define RANGES_MAX	4096	/* then they begin anew */

static void growth_range_add(struct growth *growth, size_t at,
			     struct growth_range range)
{
	struct growth_range *items;

	if (!array_grow(&growth->items, growth->count, &growth->room,
			sizeof(*growth->items)))
		return;
	items = growth->items + at;
	memmove(items + 1, items, (growth->count++ - at) * sizeof(*items));
	*items = range;
}

void growth_take(struct growth *growth, struct growth_range range,
		 void (*take)(void *context, struct growth_range range),
		 void *context)
{
	struct growth_range part = { range.start };
	size_t at = 0;

	if (growth->count >= RANGES_MAX)
		growth->count = 0;
	while (at < growth->count && growth->items[at].end <= range.start)
		at++;
	if (at < growth->count && growth->items[at].start == range.start &&
	    growth->items[at].end == range.end) {
		take(context, range);
		return;
	}
	while (part.start < range.end) {
		const struct growth_range *known = &growth->items[at];
		bool is_known = at < growth->count && known->start < range.end;

		part.end = is_known ? known->start : range.end;
		if (part.start < part.end) {
			take(context, part);
			growth_range_add(growth, at++, part);
		}
		if (!is_known)
			return;
		part.start = growth->items[at++].end;
	}
}

struct growth_range growth_take_brk(struct growth *growth,
				    struct growth_range heap)
{
	if (growth->brk > heap.start)
		heap.start = growth->brk < heap.end ? growth->brk : heap.end;
	growth->brk = heap.end;
	return heap;
}

bool growth_copy(struct growth *growth, const struct growth *from)
{
	*growth = (struct growth) { .brk = from->brk };
	if (!from->count)
		return true;
	growth->items = malloc(from->count * sizeof(*from->items));
	if (!growth->items)
		return false;
	memcpy(growth->items, from->items, from->count * sizeof(*from->items));
	growth->count = growth->room = from->count;
	return true;
}

void growth_free(struct growth *growth)
{
	free(growth->items);
	*growth = (struct growth) { 0 };
}

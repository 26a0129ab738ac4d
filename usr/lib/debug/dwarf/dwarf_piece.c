// SPDX-License-Identifier: GPL-2.0
#include "dwarf_piece.h"

#include <errno.h>
#include <stdlib.h>
#include "lib/array.h"

int dwarf_piece_add(struct dwarf_pieces *pieces, uint64_t start, uint64_t end,
		    uint32_t owner)
{
	if (end <= start)
		return 0;
	if (!array_grow(&pieces->list, pieces->count, &pieces->room,
			sizeof(*pieces->list)))
		return -ENOMEM;
	pieces->list[pieces->count++] =
		(struct dwarf_piece) { start, end, owner };
	return 0;
}

static int piece_compare(const void *a, const void *b)
{
	const struct dwarf_piece *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->owner > y->owner) - (x->owner < y->owner);
}

/* Ranges that were begun, and where the code is cut off. */
struct cutter {
	struct dwarf_pieces cut;
	struct dwarf_piece *open;
	size_t count;
	uint64_t at;
};

/* Cut off what lies before `end`. */
static int cut_until(struct cutter *c, uint64_t end)
{
	while (c->count && c->at < end) {
		struct dwarf_piece *top = &c->open[c->count - 1];
		uint64_t until = top->end < end ? top->end : end;

		if (until > c->at) {
			if (dwarf_piece_add(&c->cut, c->at, until, top->owner))
				return -ENOMEM;
			c->at = until;
		}
		if (top->end <= c->at)
			c->count--;
	}
	c->at = end;
	return 0;
}

int dwarf_pieces_cut(struct dwarf_pieces *pieces)
{
	struct cutter c = {0};
	int code = 0;

	if (!pieces->count)
		return 0;
	qsort(pieces->list, pieces->count, sizeof(*pieces->list),
	      piece_compare);
	c.open = calloc(pieces->count, sizeof(*c.open));
	if (!c.open)
		return -ENOMEM;
	for (size_t i = 0; !code && i < pieces->count; i++) {
		code = cut_until(&c, pieces->list[i].start);
		c.open[c.count++] = pieces->list[i];
	}
	if (!code)
		code = cut_until(&c, UINT64_MAX);
	free(c.open);
	dwarf_pieces_free(pieces);
	*pieces = c.cut;
	return code;
}

bool dwarf_piece_find(const struct dwarf_pieces *pieces, uint64_t address,
		      uint32_t *owner)
{
	size_t at = array_count_upto(pieces->list, pieces->count,
				     sizeof(*pieces->list), address);

	if (!at || address >= pieces->list[at - 1].end)
		return false;
	*owner = pieces->list[at - 1].owner;
	return true;
}

void dwarf_pieces_free(struct dwarf_pieces *pieces)
{
	free(pieces->list);
	*pieces = (struct dwarf_pieces) {0};
}

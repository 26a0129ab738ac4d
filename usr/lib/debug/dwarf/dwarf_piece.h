/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code cut into pieces: ranges that lie in one another become pieces that
 * don't overlap, each with the innermost one's owner.
 */
#ifndef TRCUST_DWARF_PIECE_H
#define TRCUST_DWARF_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_piece {
	uint64_t start, end;
	uint32_t owner;
};

struct dwarf_pieces {
	struct dwarf_piece *list;	/* by start, once they were cut */
	size_t count, room;
};

/* A range of an owner; outer owners have lower numbers. 0, -ENOMEM. */
int dwarf_piece_add(struct dwarf_pieces *pieces, uint64_t start, uint64_t end,
		    uint32_t owner);
/* All ranges were added. 0, -ENOMEM. */
int dwarf_pieces_cut(struct dwarf_pieces *pieces);
/* The innermost owner around address: false, none. */
bool dwarf_piece_find(const struct dwarf_pieces *pieces, uint64_t address,
		      uint32_t *owner);
void dwarf_pieces_free(struct dwarf_pieces *pieces);

#endif

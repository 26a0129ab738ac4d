/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The blocks and inlined functions of a function, and what each declares
 * (DWARF 5 sections 3.3.8 and 3.5). Made when a function is first asked about.
 */
#ifndef TRCUST_DWARF_BLOCK_H
#define TRCUST_DWARF_BLOCK_H

#include "dwarf_unit.h"

#define DWARF_BLOCKS_DEEP	64	/* what is further inside is left out */
#define DWARF_ORIGINS_MAX	4	/* inlined copy, function, declaration */

struct dwarf_block {
	Dwarf_Die die;
	uint32_t outer;		/* number of the block around it */
	uint32_t first, last;	/* declarations; index + 1, 0 none */
	bool types;		/* it declares types, too */
	bool inlined;		/* a copy of a function */
	uint64_t entry;		/* of a copy: DW_AT_entry_pc, as an address; 0:
				 * it has none */
};

struct dwarf_declaration {
	Dwarf_Die die;
	uint32_t next;		/* index + 1 of the next one in the block */
};

/* Code cut into pieces that don't overlap, each with its innermost block */
struct dwarf_pieces {
	struct dwarf_piece {
		uint64_t start, end;
		uint32_t owner;		/* number of the block */
	} *list;			/* by start, once they were cut */
	size_t count, room;
};

struct dwarf_blocks {
	struct dwarf_block *list;	/* number 0 is the function */
	size_t count, room;
	struct dwarf_declaration *declarations;
	size_t declaration_count, declaration_room;
	struct dwarf_pieces pieces;
};

/* NULL: no memory. They belong to the unit. */
const struct dwarf_blocks *dwarf_blocks_get(struct unit *unit,
					    const Dwarf_Die *function);
/* The number of the innermost one around pc. */
uint32_t dwarf_block_find(const struct dwarf_blocks *blocks, uint64_t pc);
/* It is a variable, parameter or constant, or has the names of constants, or
 * brings in names of elsewhere. */
bool dwarf_block_declares(int tag);
bool dwarf_block_is_one(int tag);
/* The blocks of all functions of a unit. */
void dwarf_blocks_free(struct key_map *all);

#endif

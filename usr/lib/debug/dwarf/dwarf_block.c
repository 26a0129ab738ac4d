// SPDX-License-Identifier: GPL-2.0
#include "dwarf_block.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include "lib/array.h"

bool dwarf_block_is_one(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

bool dwarf_block_declares(int tag)
{
	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter ||
	       tag == DW_TAG_constant || tag == DW_TAG_enumeration_type ||
	       tag == DW_TAG_imported_declaration ||
	       tag == DW_TAG_imported_module;
}

static int declaration_add(struct dwarf_blocks *blocks, const Dwarf_Die *die,
			   uint32_t number)
{
	struct dwarf_block *block = &blocks->list[number];

	if (!array_grow(&blocks->declarations, blocks->declaration_count,
			&blocks->declaration_room,
			sizeof(*blocks->declarations)))
		return -ENOMEM;
	blocks->declarations[blocks->declaration_count++] =
		(struct dwarf_declaration) { .die = *die };
	if (block->last)
		blocks->declarations[block->last - 1].next =
			blocks->declaration_count;
	else
		block->first = blocks->declaration_count;
	block->last = blocks->declaration_count;
	return 0;
}

static int dwarf_block_add(struct dwarf_blocks *blocks, Dwarf_Die *die,
			   uint32_t outer, bool inlined)
{
	struct dwarf_block block = {
		.die = *die, .outer = outer, .inlined = inlined,
	};
	Dwarf_Attribute attr;
	Dwarf_Addr entry;

	if (!array_grow(&blocks->list, blocks->count, &blocks->room,
			sizeof(*blocks->list)))
		return -ENOMEM;
	if (inlined && dwarf_attr(die, DW_AT_entry_pc, &attr) &&
	    !dwarf_formaddr(&attr, &entry))
		block.entry = entry;
	blocks->list[blocks->count++] = block;
	return 0;
}

static int block_piece_add(struct dwarf_pieces *pieces, uint64_t start,
			   uint64_t end, uint32_t owner)
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

/* *last: the entry visited; damaged siblings go back. */
static int blocks_read(struct dwarf_blocks *blocks, Dwarf_Die *die,
		       uint32_t number, unsigned int depth, const void **last)
{
	Dwarf_Addr base, start, end;
	Dwarf_Die child;
	int code = 0;

	if (depth == DWARF_BLOCKS_DEEP)
		return 0;
	for (dwarf_die_child(die, &child); !code && child.addr;
	     dwarf_die_sibling(&child)) {
		int tag = dwarf_tag(&child);
		bool inlined = tag == DW_TAG_inlined_subroutine;

		if (child.addr <= *last)
			return 0;
		*last = child.addr;
		if (dwarf_block_declares(tag))
			code = declaration_add(blocks, &child, number);
		blocks->list[number].types |=
			tag == DW_TAG_structure_type ||
			tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
			tag == DW_TAG_enumeration_type || tag == DW_TAG_typedef;
		if (!dwarf_block_is_one(tag) && !inlined)
			continue;
		if (!code)
			code = dwarf_block_add(blocks, &child, number, inlined);
		/* without addresses of its own it has those of its blocks */
		for (ptrdiff_t at = 0; !code &&
		     (at = dwarf_ranges(&child, at, &base, &start, &end)) > 0; )
			code = block_piece_add(&blocks->pieces, start, end,
					       blocks->count - 1);
		if (!code)
			code = blocks_read(blocks, &child, blocks->count - 1,
					   depth + 1, last);
	}
	return code;
}

static int piece_compare(const void *a, const void *b)
{
	const struct dwarf_piece *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->owner > y->owner) - (x->owner < y->owner);
}

/* Pieces of blocks that were begun, and the address up to which code is cut off */
struct piece_cutter {
	struct dwarf_pieces cut;
	struct dwarf_piece *open;
	size_t count;
	uint64_t at;
};

static int cut_until(struct piece_cutter *c, uint64_t end)
{
	while (c->count && c->at < end) {
		struct dwarf_piece *top = &c->open[c->count - 1];
		uint64_t until = top->end < end ? top->end : end;

		if (until > c->at) {
			if (block_piece_add(&c->cut, c->at, until, top->owner))
				return -ENOMEM;
			c->at = until;
		}
		if (top->end <= c->at)
			c->count--;
	}
	c->at = end;
	return 0;
}

/* Cut the ranges of blocks, which are inside each other; outer blocks have lower
 * numbers. */
static int pieces_cut(struct dwarf_pieces *pieces)
{
	struct piece_cutter c = {0};
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
	free(pieces->list);
	*pieces = c.cut;
	return code;
}

static void blocks_free(struct dwarf_blocks *blocks)
{
	free(blocks->list);
	free(blocks->declarations);
	free(blocks->pieces.list);
	free(blocks);
}

void dwarf_blocks_free(struct key_map *all)
{
	struct dwarf_blocks *blocks;
	size_t at = 0;

	while ((blocks = key_map_next(all, &at)))
		blocks_free(blocks);
	key_map_free(all);
}

const struct dwarf_blocks *dwarf_blocks_get(struct unit *unit,
					    const Dwarf_Die *function)
{
	uint64_t key = key_map_key(function->addr);
	struct dwarf_blocks *blocks = key_map_find(&unit->blocks, key);
	Dwarf_Die die = *function;
	const void *last = NULL;

	if (blocks)
		return blocks;
	blocks = calloc(1, sizeof(*blocks));
	if (!blocks)
		return NULL;
	if (dwarf_block_add(blocks, &die, 0, false) ||
	    blocks_read(blocks, &die, 0, 1, &last) ||
	    pieces_cut(&blocks->pieces) ||
	    key_map_add(&unit->blocks, key, blocks)) {
		blocks_free(blocks);
		return NULL;
	}
	return blocks;
}

uint32_t dwarf_block_find(const struct dwarf_blocks *blocks, uint64_t pc)
{
	const struct dwarf_piece *list = blocks->pieces.list;
	size_t at = array_count_upto(list, blocks->pieces.count, sizeof(*list),
				     pc);

	return at && pc < list[at - 1].end ? list[at - 1].owner : 0;
}

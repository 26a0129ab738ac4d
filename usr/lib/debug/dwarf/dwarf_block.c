// SPDX-License-Identifier: GPL-2.0
#include "dwarf_block.h"

#include <dwarf.h>
#include <errno.h>
#include <search.h>
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

static bool tag_is_type(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type ||
	       tag == DW_TAG_typedef;
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

static uint64_t entry_read(Dwarf_Die *copy)
{
	Dwarf_Attribute attr;
	Dwarf_Addr address;

	return dwarf_attr(copy, DW_AT_entry_pc, &attr) &&
	       !dwarf_formaddr(&attr, &address) ? address : 0;
}

static int block_add(struct dwarf_blocks *blocks, Dwarf_Die *die,
		     uint32_t outer, bool inlined)
{
	if (!array_grow(&blocks->list, blocks->count, &blocks->room,
			sizeof(*blocks->list)))
		return -ENOMEM;
	blocks->list[blocks->count++] =
		(struct dwarf_block) {
			.die = *die, .outer = outer, .inlined = inlined,
			.entry = inlined ? entry_read(die) : 0,
		};
	return 0;
}

/* A block without addresses of its own has those of the blocks in it. */
static int block_add_code(struct dwarf_blocks *blocks, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int code = 0;

	while (!code && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		code = dwarf_piece_add(&blocks->pieces, start, end,
				       blocks->count - 1);
	return code;
}

/* *last: the entry visited; damaged siblings go back. */
static int blocks_read(struct dwarf_blocks *blocks, Dwarf_Die *die,
		       uint32_t number, unsigned int depth, const void **last)
{
	Dwarf_Die child;
	int code = 0;

	if (depth == DWARF_BLOCKS_DEEP || dwarf_child(die, &child))
		return 0;
	do {
		int tag = dwarf_tag(&child);
		bool inlined = tag == DW_TAG_inlined_subroutine;

		if (child.addr <= *last)
			return 0;
		*last = child.addr;
		if (dwarf_block_declares(tag))
			code = declaration_add(blocks, &child, number);
		blocks->list[number].types |= tag_is_type(tag);
		if (!dwarf_block_is_one(tag) && !inlined)
			continue;
		code = block_add(blocks, &child, number, inlined);
		if (!code)
			code = block_add_code(blocks, &child);
		if (!code)
			code = blocks_read(blocks, &child, blocks->count - 1,
					   depth + 1, last);
	} while (!code && dwarf_die_next(&child));
	return code;
}

static int blocks_compare(const void *a, const void *b)
{
	const struct dwarf_blocks *x = a, *y = b;

	return (x->function > y->function) - (x->function < y->function);
}

static void blocks_free(void *node)
{
	struct dwarf_blocks *blocks = node;

	free(blocks->list);
	free(blocks->declarations);
	dwarf_pieces_free(&blocks->pieces);
	free(blocks);
}

void dwarf_blocks_free(void *all)
{
	tdestroy(all, blocks_free);
}

const struct dwarf_blocks *dwarf_blocks_get(struct unit *unit,
					    const Dwarf_Die *function)
{
	struct dwarf_blocks key = { .function = function->addr };
	struct dwarf_blocks *blocks, **found;
	Dwarf_Die die = *function;
	const void *last = NULL;

	found = tfind(&key, &unit->blocks, blocks_compare);
	if (found)
		return *found;
	blocks = calloc(1, sizeof(*blocks));
	if (!blocks)
		return NULL;
	blocks->function = function->addr;
	if (block_add(blocks, &die, 0, false) ||
	    blocks_read(blocks, &die, 0, 1, &last) ||
	    dwarf_pieces_cut(&blocks->pieces) ||
	    !tsearch(blocks, &unit->blocks, blocks_compare)) {
		blocks_free(blocks);
		return NULL;
	}
	return blocks;
}

uint32_t dwarf_block_find(const struct dwarf_blocks *blocks, uint64_t pc)
{
	uint32_t number = 0;

	dwarf_piece_find(&blocks->pieces, pc, &number);
	return number;
}

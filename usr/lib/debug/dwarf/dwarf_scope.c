// SPDX-License-Identifier: GPL-2.0
#include "dwarf_scope.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

/* ---- the blocks of a function ---- */

bool dwarf_block_is_one(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

/* It is a variable, parameter or constant, or has the names of constants, or
 * brings in names of elsewhere. */
static bool block_declares(int tag)
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
	size_t count = blocks->declaration_count;

	if (!array_grow(&blocks->declarations, count, &blocks->declaration_room,
			sizeof(*blocks->declarations)))
		return -ENOMEM;
	blocks->declarations[count].die = *die;
	blocks->declarations[count].next = 0;
	blocks->declaration_count = ++count;
	if (block->last)
		blocks->declarations[block->last - 1].next = count;
	else
		block->first = count;
	block->last = count;
	return 0;
}

static int block_add(struct dwarf_blocks *blocks, Dwarf_Die *die,
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

/* *last: the entry visited; damaged siblings go back. */
static int blocks_read(struct dwarf_blocks *blocks, Dwarf_Die *die,
		       uint32_t number, unsigned int depth, const void **last)
{
	Dwarf_Addr base, start, end;
	Dwarf_Die child;
	int code = 0;

	if (depth == DWARF_BLOCKS_DEEP)
		return 0;
	dwarf_die_each(die, &child) {
		int tag = dwarf_tag(&child);
		bool inlined = tag == DW_TAG_inlined_subroutine;

		if (code || child.addr <= *last)
			break;
		*last = child.addr;
		if (block_declares(tag))
			code = declaration_add(blocks, &child, number);
		blocks->list[number].types |=
			tag == DW_TAG_structure_type ||
			tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
			tag == DW_TAG_enumeration_type || tag == DW_TAG_typedef;
		if (!dwarf_block_is_one(tag) && !inlined)
			continue;
		if (!code)
			code = block_add(blocks, &child, number, inlined);
		/* without addresses of its own it has those of its blocks */
		for (ptrdiff_t at = 0; !code &&
		     (at = dwarf_ranges(&child, at, &base, &start, &end)) > 0; )
			if (!array_grow(&blocks->pieces, blocks->piece_count,
					&blocks->piece_room,
					sizeof(*blocks->pieces)))
				code = -ENOMEM;
			else
				blocks->pieces[blocks->piece_count++] =
					(struct dwarf_piece) {
						start, end, blocks->count - 1,
					};
		if (!code)
			code = blocks_read(blocks, &child, blocks->count - 1,
					   depth + 1, last);
	}
	return code;
}

static void blocks_free(void *value)
{
	struct dwarf_blocks *blocks = value;

	free(blocks->list);
	free(blocks->declarations);
	free(blocks->pieces);
	free(blocks);
}

/* NULL: no memory. */
static const struct dwarf_blocks *blocks_get(struct dwarf_file *dwarf,
					     const Dwarf_Die *function)
{
	struct dwarf_blocks *blocks =
		dwarf_memo_find(dwarf, DWARF_BLOCKS, function->addr);
	Dwarf_Die die = *function;
	const void *last = NULL;

	if (blocks)
		return blocks;
	blocks = calloc(1, sizeof(*blocks));
	if (!blocks)
		return NULL;
	if (!block_add(blocks, &die, 0, false) &&
	    !blocks_read(blocks, &die, 0, 1, &last))
		return dwarf_memo_add(dwarf, DWARF_BLOCKS, function->addr,
				      blocks, blocks_free);
	blocks_free(blocks);
	return NULL;
}

/* ---- the blocks around an address ---- */

/* From the function inwards, up to the block of that number. */
static void scopes_fill(struct dwarf_scopes *scopes, uint32_t number)
{
	scopes->count = 1;
	for (uint32_t i = number; i; i = scopes->blocks->list[i].outer)
		scopes->count++;
	for (size_t at = scopes->count; at--; ) {
		const struct dwarf_block *block = &scopes->blocks->list[number];

		scopes->dies[at] = block->die;
		scopes->numbers[at] = number;
		number = block->outer;
	}
}

int dwarf_scopes_find(struct dwarf_file *dwarf, uint64_t pc,
		      struct dwarf_scopes *scopes)
{
	struct dwarf_piece best = { 0 };
	Dwarf_Die die;

	scopes->count = 0;
	scopes->unit = NULL;
	if (!dwarf_unit_find(dwarf, pc, &die))
		return -ENOENT;
	scopes->unit = dwarf_unit_get(dwarf, &die);
	if (!scopes->unit)
		return -ENOMEM;
	if (!dwarf_unit_code(scopes->unit, pc, &scopes->dies[0]))
		return scopes->unit->failed ? -ENOMEM : 0;
	scopes->blocks = blocks_get(dwarf, &scopes->dies[0]);
	if (!scopes->blocks)
		return -ENOMEM;
	/* Blocks are inside each other, outer ones come first: the innermost
	 * is the last one of those that begin last. */
	for (size_t i = 0; i < scopes->blocks->piece_count; i++) {
		const struct dwarf_piece *piece = &scopes->blocks->pieces[i];

		if (pc >= piece->start && pc < piece->end &&
		    piece->start >= best.start)
			best = *piece;
	}
	scopes_fill(scopes, best.owner);
	return 0;
}

bool dwarf_scope_is_function(const struct dwarf_scopes *scopes, size_t scope)
{
	Dwarf_Die die = scopes->dies[scope];

	return !scope || dwarf_tag(&die) == DW_TAG_inlined_subroutine;
}

size_t dwarf_scopes_function(const struct dwarf_scopes *scopes)
{
	size_t at = scopes->count - 1;

	while (!dwarf_scope_is_function(scopes, at))
		at--;
	return at;
}

int dwarf_scopes_find_from(struct dwarf_file *dwarf,
			   const struct dwarf_from *from,
			   struct dwarf_scopes *scopes)
{
	int code = dwarf_scopes_find(dwarf, from->pc, scopes);
	size_t at = 0;

	if (code || !scopes->count || (!from->outermost && !from->function))
		return code;
	while (!from->outermost && at < scopes->count &&
	       scopes->dies[at].addr != from->function)
		at++;
	/* without the functions that are inlined into this scope */
	for (size_t i = at + 1; i < scopes->count; i++)
		if (dwarf_scope_is_function(scopes, i))
			scopes->count = i;
	if (at < scopes->count)
		return 0;
	/* A copy may have a line in the code of others, and none of its own
	 * there. */
	for (size_t i = 0; i < scopes->blocks->count; i++)
		if (scopes->blocks->list[i].die.addr == from->function) {
			scopes_fill(scopes, i);
			break;
		}
	return 0;
}

bool dwarf_scopes_choose(struct dwarf_file *dwarf,
			 const struct dwarf_from *from, Dwarf_Die *function)
{
	struct dwarf_scopes all, scopes;

	if (dwarf_scopes_find(dwarf, from->pc, &all) ||
	    dwarf_scopes_find_from(dwarf, from, &scopes) || !scopes.count)
		return false;
	*function = scopes.dies[dwarf_scopes_function(&scopes)];
	return dwarf_scopes_function(&all) || dwarf_scopes_function(&scopes);
}

int dwarf_scope_each(const struct dwarf_scopes *scopes, size_t scope,
		     int (*take)(void *context, Dwarf_Die *die), void *context)
{
	const struct dwarf_blocks *blocks = scopes->blocks;
	Dwarf_Die at = scopes->dies[scope], die;
	int code = 0;

	for (uint32_t i = blocks->list[scopes->numbers[scope]].first;
	     i && !code; i = blocks->declarations[i - 1].next) {
		die = blocks->declarations[i - 1].die;
		code = take(context, &die);
	}
	for (int i = 0; i < DWARF_ORIGINS_MAX && !code &&
			dwarf_die_origin(&at); i++)
		dwarf_die_each(&at, &die)
			if (!code && block_declares(dwarf_tag(&die)))
				code = take(context, &die);
	return code;
}

void dwarf_variable_fill(struct dwarf_variable *variable, Dwarf_Die *die,
			 bool local)
{
	memset(variable, 0, sizeof(*variable));
	variable->die = *die;
	variable->local = local;
	variable->parameter = dwarf_tag(die) == DW_TAG_formal_parameter;
	variable->type = dwarf_type_declared(die);
}

bool dwarf_enumerator_find(Dwarf_Die *enumeration, const char *name,
			   struct dwarf_variable *variable)
{
	memset(variable, 0, sizeof(*variable));
	variable->type = *enumeration;
	return dwarf_die_child_named(enumeration, DW_TAG_enumerator, name,
				     &variable->die);
}

int dwarf_variable_rank(Dwarf_Die *die, uint64_t pc)
{
	Dwarf_Attribute attr;
	size_t count;
	Dwarf_Op *ops;

	if (dwarf_die_location(die, DW_AT_location, &attr))
		return dwarf_getlocation_addr(&attr, pc, &ops, &count, 1) > 0 &&
		       count ? 2 : 1;
	return dwarf_attr_integrate(die, DW_AT_const_value, &attr) ? 2 : 0;
}

const char *dwarf_variable_symbol(Dwarf_Die *die)
{
	const char *name = dwarf_die_linkage(die);
	Dwarf_Die root = dwarf_die_root(die);
	char *path;
	bool plain;

	if (name)
		return name;
	name = dwarf_diename(die);
	path = name ? dwarf_type_name(&root) : NULL;
	plain = path && !strcmp(path, name);
	free(path);
	return plain ? name : NULL;
}

bool dwarf_union_find(Dwarf_Die *die, const char *name,
		      struct dwarf_variable *variable)
{
	Dwarf_Die child;

	dwarf_variable_fill(variable, die, true);
	return dwarf_tag(die) == DW_TAG_variable && variable->type.addr &&
	       dwarf_tag(&variable->type) == DW_TAG_union_type &&
	       dwarf_die_child_named(&variable->type, DW_TAG_member, name,
				     &child) &&
	       dwarf_type_of(&child, &variable->type);
}

bool dwarf_scopes_are_clang(const struct dwarf_scopes *scopes)
{
	Dwarf_Die unit = scopes->unit->die;
	const char *producer = dwarf_die_text(&unit, DW_AT_producer);

	return producer && strstr(producer, "clang");
}

bool dwarf_scope_is_loose(const struct dwarf_scopes *scopes, size_t scope)
{
	return dwarf_scope_is_function(scopes, scope) &&
	       dwarf_scopes_are_clang(scopes);
}

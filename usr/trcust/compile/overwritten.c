// SPDX-License-Identifier: GPL-2.0
#include "overwritten.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "../../lib/formats/rpn.h"
#include "../dwarf/dwarf_type.h"
#include "../rpn/rpn_emit.h"
#include "site.h"
#include "state.h"

/* The registers at the site, in terms of those at the function's entry. False:
 * there is an instruction that isn't known. */
static bool run(const struct compilation *c, const struct block *block,
		struct state *state)
{
	const struct arch *arch = c->module->arch;

	for (size_t i = 0; i < block->at; i++) {
		const struct block_insn *insn = &block->insns[i];
		struct arch_effect effect;

		if (!arch_effect_find(arch, insn->bytes, insn->insn.length,
				      insn->address, &effect) || !effect.known)
			return false;
		state_step(state, i, &insn->insn, &effect);
	}
	return !state->failed;
}

/* All of the piece is one register. */
static bool is_register(const struct arch *arch,
			const struct place_piece *piece, unsigned int *number)
{
	const struct bytes *rpn = &piece->rpn;
	struct rpn_op op;

	if (piece->kind != PLACE_VALUE ||
	    rpn_decode(rpn->data, rpn->size, 0, &op) ||
	    op.code < RPN_breg || op.code > RPN_breg_last || op.a ||
	    op.next != rpn->size || op.index == arch->stack)
		return false;
	*number = op.index;
	return true;
}

/* The low bytes are those that the other register had at the entry. */
static bool has(const struct state_value *value, unsigned int number,
		uint64_t bytes)
{
	return value->base == number && !value->add && value->bytes >= bytes &&
	       value->known >= bytes;
}

static int overwrite(const struct compilation *c, const struct state *state,
		     unsigned int number, uint64_t bytes,
		     struct place_piece *piece)
{
	char name[16] = "";

	bytes_free(&piece->rpn);
	memset(&piece->rpn, 0, sizeof(piece->rpn));
	for (unsigned int i = 0; i < ARCH_REGISTERS; i++) {
		if (!has(&state->registers[i], number, bytes))
			continue;
		rpn_emit_register(&piece->rpn, i, 0);
		return piece->rpn.failed ? -ENOMEM : 0;
	}
	arch_register_print(c->module->arch, number, name, sizeof(name));
	piece->kind = PLACE_ABSENT;
	return asprintf(&piece->why, "it was in %s, which something else was "
			"put in", name) < 0 ? -ENOMEM : 0;
}

/* What is a part of a register is in its low bytes. */
static uint64_t piece_bytes(const struct compilation *c,
			    const struct dwarf_variable *variable,
			    const struct place_piece *piece)
{
	uint64_t width = c->module->elf_class == ELFCLASS64 ? 8 : 4;
	uint64_t bytes = piece->bytes;
	Dwarf_Die bare;

	if (!bytes && variable->type.addr) {
		dwarf_type_peel(&variable->type, &bare, NULL);
		if (!dwarf_type_bytes(&bare, &bytes))
			bytes = 0;
	}
	return bytes && bytes < width ? bytes : width;
}

static bool is_same(const struct place_piece *a, const struct place_piece *b)
{
	return a->kind == b->kind && a->bytes == b->bytes &&
	       a->rpn.size == b->rpn.size &&
	       !memcmp(a->rpn.data, b->rpn.data, a->rpn.size);
}

static int pieces_settle(const struct compilation *c,
			 const struct dwarf_variable *variable,
			 const struct state *state, const struct place *first,
			 struct place *place)
{
	int code = 0;

	for (size_t i = 0; i < place->count && i < first->count; i++) {
		struct place_piece *piece = &place->pieces[i];
		uint64_t bytes = piece_bytes(c, variable, piece);
		unsigned int number;

		if (code || !is_same(piece, &first->pieces[i]) ||
		    !is_register(c->module->arch, piece, &number) ||
		    has(&state->registers[number], number, bytes))
			continue;
		code = overwrite(c, state, number, bytes, piece);
	}
	return code;
}

/* No statement of the function has run: it begins with the block. */
static bool is_first(struct compilation *c, const struct compile_site *site,
		     const struct block *block)
{
	return block->entry && block->at &&
	       site->nominal <= site_behind_prologue(c, block->insns->address,
						     0);
}

static int check(const struct place *place, struct error *err)
{
	for (size_t i = 0; i < place->count; i++)
		if (place->pieces[i].kind != PLACE_ABSENT)
			return 0;
	return error_set(err, -ENODATA, "%s", place->pieces[0].why);
}

int overwritten_settle(struct compilation *c, const struct compile_site *site,
		       const struct dwarf_variable *variable,
		       struct place *place, struct error *err)
{
	Dwarf_Die die = variable->die;
	struct block block = {0};
	struct place first = {0};
	struct state state;
	int code;

	if (!variable->local || !c->sites || !c->module->elf ||
	    !place->count || dwarf_tag(&die) != DW_TAG_formal_parameter)
		return 0;
	code = site_block_find(c, site->nominal, &block);
	if (!code && !is_first(c, site, &block))
		code = -ENOENT;
	if (!code)
		code = dwarf_variable_place(c->dwarf, variable,
					    block.insns->address, &first, NULL);
	if (!code) {
		state_begin(&state, c->module->arch, -1, true);
		if (run(c, &block, &state))
			code = pieces_settle(c, variable, &state, &first,
					     place);
		if (state.failed)
			code = -ENOMEM;
		state_end(&state);
	}
	place_free(&first);
	block_free(&block);
	if (code)
		return code == -ENOMEM ? code : 0;
	return check(place, err);
}

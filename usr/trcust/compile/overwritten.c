// SPDX-License-Identifier: GPL-2.0
#include "overwritten.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/formats/rpn.h"
#include "lib/debug/dwarf/dwarf.h"
#include "lib/formats/rpn_emit.h"
#include "analysis.h"
#include "state.h"

/*
 * What is wrong in an in-register parameter's location is known where it has to
 * be what the caller gave. After that gcc has wrong ones of structures, and of
 * what two registers have: of these a part has a register of its own as soon as
 * it is written to.
 */
struct judge {
	const struct compilation *c;
	const struct dwarf_variable *variable;
	const struct state *state;	/* of the first statement; else: */
	const struct stores *stores;
	uint64_t site;
};

/* All of the piece is one register. */
static bool piece_register(const struct arch *arch,
			   const struct place_piece *piece,
			   uint64_t *number)
{
	const struct bytes *rpn = &piece->rpn;
	struct rpn_op op;
	int64_t offset;

	return piece->kind == PLACE_VALUE &&
	       rpn_single(rpn->data, rpn->size, &op) && op.code != RPN_bregx &&
	       rpn_is_register(&op, number, &offset) && !offset &&
	       *number != arch->stack;
}

/* The low bytes are those that the other register had at the entry. */
static bool has_copy(const struct state_value *value, unsigned int number,
		     uint64_t bytes)
{
	return value->base == number && !value->add && value->bytes >= bytes &&
	       value->known >= bytes;
}

static int make_absent(struct place_piece *piece, const char *why)
{
	bytes_free(&piece->rpn);
	memset(&piece->rpn, 0, sizeof(piece->rpn));
	piece->kind = PLACE_ABSENT;
	piece->why = strdup(why);
	return piece->why ? 0 : -ENOMEM;
}

/* The piece becomes a register that has a copy of the first one, or absent. */
static int piece_replace(const struct judge *judge, unsigned int first,
			 uint64_t bytes, struct place_piece *piece)
{
	char name[16] = "", why[64];

	for (unsigned int i = 0; judge->state && i < ARCH_REGISTERS; i++) {
		if (!has_copy(&judge->state->registers[i], first, bytes))
			continue;
		piece->rpn.size = 0;
		rpn_emit_register(&piece->rpn, i, 0);
		return piece->rpn.failed ? -ENOMEM : 0;
	}
	arch_register_print(judge->c->module->arch, first, name, sizeof(name));
	snprintf(why, sizeof(why), "it was in %s, which something else was "
		 "put in", name);
	return make_absent(piece, why);
}

/* What is read from memory may be the caller's. */
static bool is_computed(const struct place_piece *piece)
{
	struct rpn_op op = {0};

	while (rpn_next(piece->rpn.data, piece->rpn.size, &op))
		if (rpn_is_deref(&op))
			return false;
	return piece->kind == PLACE_VALUE;
}

/* The piece isn't what the register `first` had at the function's entry. */
static bool is_overwritten(const struct judge *judge,
			   const struct place_piece *piece,
			   const struct place_piece *entry, unsigned int first,
			   uint64_t bytes)
{
	uint64_t number;

	if (!judge->state)
		return piece->kind == entry->kind &&
		       piece->bytes == entry->bytes &&
		       piece->rpn.size == entry->rpn.size &&
		       !memcmp(piece->rpn.data, entry->rpn.data,
			       piece->rpn.size) &&
		       stores_written(judge->stores, judge->site, first);
	if (piece_register(judge->c->module->arch, piece, &number))
		return !has_copy(&judge->state->registers[number], first,
				 bytes);
	return is_computed(piece);
}

static int pieces_settle(const struct judge *judge, const struct place *first,
			 struct place *place)
{
	const struct module *module = judge->c->module;
	uint64_t width = module->elf_class == ELFCLASS64 ? 8 : 4;
	uint64_t number;
	Dwarf_Die bare;
	int code = 0;

	if (place->count != first->count)
		return 0;
	for (size_t i = 0; i < place->count && !code; i++) {
		struct place_piece *piece = &place->pieces[i];
		const struct place_piece *entry = &first->pieces[i];
		uint64_t bytes = piece->bytes;

		/* what is a part of a register is in its low bytes */
		if (!bytes && judge->variable->type.addr) {
			dwarf_type_peel(&judge->variable->type, &bare, NULL);
			if (!dwarf_type_bytes(&bare, &bytes))
				bytes = 0;
		}
		if (!bytes || bytes > width)
			bytes = width;
		if (piece->bytes == entry->bytes &&
		    piece_register(module->arch, entry, &number) &&
		    is_overwritten(judge, piece, entry, number, bytes))
			code = piece_replace(judge, number, bytes, piece);
	}
	return code;
}

/* As the registers are at the site, in the block that the function begins with:
 * relative to what they were at its entry. */
static int settle_first(struct judge *judge, const struct block *block,
			const struct place *first, struct place *place)
{
	const struct arch *arch = judge->c->module->arch;
	struct arch_effect effect = { .known = true };
	struct state state;
	int code = 0;

	state_begin(&state, arch, -1, true);
	judge->state = &state;
	for (size_t i = 0; i < block->at && effect.known; i++) {
		const struct block_insn *insn = &block->insns[i];

		if (!arch_effect_find(arch, insn->bytes, insn->insn.length,
				      insn->address, &effect))
			effect.known = false;
		if (effect.known)
			state_step(&state, i, &insn->insn, &effect);
	}
	if (state.failed)
		code = -ENOMEM;
	else if (effect.known)
		code = pieces_settle(judge, first, place);
	state_end(&state);
	return code;
}

static int parameter_settle(const struct compilation *c,
			    const struct compile_site *site,
			    const struct dwarf_variable *variable,
			    const struct block *block, struct place *place)
{
	struct judge judge = {
		.c = c, .variable = variable, .site = site->nominal,
	};
	/* no statement of the function has run: it begins with the block */
	bool first = block->entry &&
		     site->nominal <= analysis_after_prologue(
					      c, block->insns->address, 0);
	enum dwarf_type_kind kind = DWARF_TYPE_OTHER;
	struct place entry = {0};
	const struct flow *flow;
	Dwarf_Die bare;
	uint64_t start;
	int code;

	/* later only of a structure, or of what several registers have */
	if (variable->type.addr) {
		dwarf_type_peel(&variable->type, &bare, NULL);
		kind = dwarf_type_kind(&bare);
	}
	if (!first && place->count == 1 && kind != DWARF_TYPE_STRUCT &&
	    kind != DWARF_TYPE_UNION)
		return 0;
	code = analysis_flow(c, site->nominal, &flow, &start);
	if (!code)
		code = dwarf_variable_place(c->dwarf, variable, start, &entry,
					    NULL);
	if (code == -ENODATA && first) {
		/* it has no place at the entry: what it has is what a statement
		 * without code assigns */
		code = 0;
		for (size_t i = 0; i < place->count && !code; i++)
			if (is_computed(&place->pieces[i]))
				code = make_absent(&place->pieces[i],
						   "it is what the first "
						   "statement assigns");
	} else if (!code && first) {
		code = settle_first(&judge, block, &entry, place);
	} else if (!code) {
		code = analysis_stores(c, site->nominal, NULL, &judge.stores);
		if (!code)
			code = pieces_settle(&judge, &entry, place);
	}
	place_free(&entry);
	return code;
}

int overwritten_settle(const struct compilation *c,
		       const struct compile_site *site,
		       const struct dwarf_variable *variable,
		       struct place *place, struct error *err)
{
	Dwarf_Die die = variable->die;
	struct block block = {0};
	int code;

	if (!variable->local || !c->analysis || !c->module->elf ||
	    !place->count || dwarf_tag(&die) != DW_TAG_formal_parameter)
		return 0;
	code = analysis_block(c, site->nominal, &block);
	if (!code)
		code = parameter_settle(c, site, variable, &block, place);
	block_free(&block);
	if (code)
		return code == -ENOMEM ? code : 0;
	for (size_t i = 0; i < place->count; i++)
		if (place->pieces[i].kind != PLACE_ABSENT)
			return 0;
	return error_set(err, -ENODATA, "%s", place->pieces[0].why);
}

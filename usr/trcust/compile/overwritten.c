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
	    !rpn_single(rpn->data, rpn->size, &op) ||
	    op.code < RPN_breg || op.code > RPN_breg_last || op.a ||
	    op.index == arch->stack)
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

/* `state` is NULL where it isn't known. */
static int overwrite(const struct compilation *c, const struct state *state,
		     unsigned int number, uint64_t bytes,
		     struct place_piece *piece)
{
	char name[16] = "";

	bytes_free(&piece->rpn);
	memset(&piece->rpn, 0, sizeof(piece->rpn));
	for (unsigned int i = 0; state && i < ARCH_REGISTERS; i++) {
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

/*
 * What is wrong in an in-register parameter's location is known where it has to
 * be what the caller gave. After that gcc has wrong ones of structures, and of
 * what two registers have: of these a part has a register of its own as soon as
 * it is written to.
 */
struct judge {
	const struct state *state;	/* of the first statement; else: */
	const struct stores *stores;
	uint64_t site;
};

/* What is read from memory may be the caller's. */
static bool is_computed(const struct place_piece *piece)
{
	struct rpn_op op = { 0 };

	while (rpn_next(piece->rpn.data, piece->rpn.size, &op))
		if (op.code == RPN_deref || op.code == RPN_deref_size)
			return false;
	return piece->kind == PLACE_VALUE && op.next == piece->rpn.size;
}

/* The piece isn't what the register `first` had at the function's entry. */
static bool is_overwritten(const struct compilation *c,
			   const struct judge *judge,
			   const struct place_piece *piece,
			   const struct place_piece *entry, unsigned int first,
			   uint64_t bytes)
{
	unsigned int number;

	if (!judge->state)
		return is_same(piece, entry) &&
		       stores_written(judge->stores, judge->site, first);
	if (is_register(c->module->arch, piece, &number))
		return !has(&judge->state->registers[number], first, bytes);
	return is_computed(piece);
}

static int pieces_settle(const struct compilation *c,
			 const struct dwarf_variable *variable,
			 const struct judge *judge, const struct place *first,
			 struct place *place)
{
	int code = 0;

	for (size_t i = 0; i < place->count && place->count == first->count;
	     i++) {
		struct place_piece *piece = &place->pieces[i];
		const struct place_piece *entry = &first->pieces[i];
		uint64_t bytes = piece_bytes(c, variable, piece);
		unsigned int number;

		if (!code && piece->bytes == entry->bytes &&
		    is_register(c->module->arch, entry, &number) &&
		    is_overwritten(c, judge, piece, entry, number, bytes))
			code = overwrite(c, judge->state, number, bytes, piece);
	}
	return code;
}

/* It has no place at the entry: what it has is what a statement without code
 * assigns. */
static int assigned_settle(struct place *place)
{
	for (size_t i = 0; i < place->count; i++) {
		struct place_piece *piece = &place->pieces[i];

		if (!is_computed(piece))
			continue;
		bytes_free(&piece->rpn);
		memset(&piece->rpn, 0, sizeof(piece->rpn));
		piece->kind = PLACE_ABSENT;
		piece->why = strdup("it is what the first statement assigns");
		if (!piece->why)
			return -ENOMEM;
	}
	return 0;
}

/* No statement of the function has run: it begins with the block. */
static bool is_first(const struct compilation *c,
		     const struct compile_site *site, const struct block *block)
{
	return block->entry &&
	       site->nominal <= analysis_after_prologue(c, block->insns->address,
							0);
}

static bool is_compound(const struct dwarf_variable *variable,
			const struct place *place)
{
	enum dwarf_type_kind kind;
	Dwarf_Die bare;

	if (place->count > 1 || !variable->type.addr)
		return place->count > 1;
	dwarf_type_peel(&variable->type, &bare, NULL);
	kind = dwarf_type_kind(&bare);
	return kind == DWARF_TYPE_STRUCT || kind == DWARF_TYPE_UNION;
}

static int check(const struct place *place, struct error *err)
{
	for (size_t i = 0; i < place->count; i++)
		if (place->pieces[i].kind != PLACE_ABSENT)
			return 0;
	return error_set(err, -ENODATA, "%s", place->pieces[0].why);
}

/* As the registers are at the end of the block that the function begins with. */
static int settle_first(const struct compilation *c,
			const struct dwarf_variable *variable,
			const struct block *block, const struct place *first,
			struct place *place)
{
	struct state state;
	struct judge judge = { .state = &state };
	int code = 0;

	state_begin(&state, c->module->arch, -1, true);
	if (run(c, block, &state))
		code = pieces_settle(c, variable, &judge, first, place);
	if (state.failed)
		code = -ENOMEM;
	state_end(&state);
	return code;
}

static int settle(const struct compilation *c, const struct compile_site *site,
		  const struct dwarf_variable *variable,
		  const struct block *block, struct place *place)
{
	struct judge judge = { .site = site->nominal };
	bool first = is_first(c, site, block);
	struct place entry = {0};
	const struct flow *flow;
	uint64_t start;
	int code;

	if (!first && !is_compound(variable, place))
		return 0;
	code = analysis_flow(c, site->nominal, &flow, &start);
	if (!code)
		code = dwarf_variable_place(c->dwarf, variable, start, &entry,
					    NULL);
	if (code == -ENODATA && first)
		code = assigned_settle(place);
	else if (!code && first)
		code = settle_first(c, variable, block, &entry, place);
	else if (!code)
		code = analysis_stores(c, site->nominal, NULL, &judge.stores);
	if (!code && !first)
		code = pieces_settle(c, variable, &judge, &entry, place);
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
		code = settle(c, site, variable, &block, place);
	block_free(&block);
	if (code)
		return code == -ENOMEM ? code : 0;
	return check(place, err);
}

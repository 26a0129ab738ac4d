// SPDX-License-Identifier: GPL-2.0
#include "slot.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/debug/dwarf/dwarf.h"
#include "lib/formats/rpn_emit.h"
#include "analysis.h"
#include "state.h"

#define PARTS_MAX	16	/* of a slot that registers may have */
#define WHY_ADDRESS	"debug information has an address for its value"
#define WHY		"its slot in the frame is not stored yet"

struct slot {
	const struct stores *stores;
	const struct block *block;	/* at the site */
	const struct arch *arch;
	unsigned int width;
	int frame_base;		/* the register that is; -1: none */
	bool after_call;	/* the block begins after one */
	bool clang;		/* ... has compiled it */
	bool number;		/* the variable is no address */
	struct stores_slot at;
	bool moved;		/* the register of its location has another
				 * value at the site */
	bool pointer;		/* it has the address of what is meant */
	uint64_t first, end;	/* of the location's range; end 0: everywhere */
	uint64_t stored;	/* out: the instruction that does; 0: not known */
};

enum source { SOURCE_SLOT, SOURCE_VALUE, SOURCE_MEMORY, SOURCE_NONE };

/* What is added to the top from there on; a sum of 32 bits is cut to these.
 * Returns the offset of what else there is. */
static size_t sum_read(const struct slot *s, const struct bytes *rpn, size_t at,
		       int64_t *sum)
{
	struct rpn_op op, then;
	int64_t number;

	while (!rpn_decode(rpn->data, rpn->size, at, &op)) {
		if (op.code == RPN_plus_uconst) {
			*sum += op.a;
			at = op.next;
			continue;
		}
		if (!rpn_is_constant(&op, &number) ||
		    rpn_decode(rpn->data, rpn->size, op.next, &then))
			break;
		if (then.code == RPN_minus)
			*sum -= number;
		else if (then.code == RPN_plus)
			*sum += number;
		else if (then.code != RPN_and || s->width == 8 ||
			 number != UINT32_MAX)
			break;
		at = then.next;
	}
	return at;
}

/* "register + offset", or, *pointer, what is in memory there. */
static bool slot_read(const struct slot *s, const struct place_piece *piece,
		      unsigned int *number, int64_t *offset, bool *pointer)
{
	const struct bytes *rpn = &piece->rpn;
	struct rpn_op op;
	uint64_t base;
	size_t at;

	*pointer = false;
	if (piece->kind == PLACE_ABSENT ||
	    rpn_decode(rpn->data, rpn->size, 0, &op) ||
	    !rpn_is_register(&op, &base, offset) || base >= ARCH_REGISTERS)
		return false;
	*number = base;
	at = sum_read(s, rpn, op.next, offset);
	if (at == rpn->size)
		return true;
	*pointer = true;
	return !rpn_decode(rpn->data, rpn->size, at, &op) &&
	       op.next == rpn->size &&
	       (op.code == RPN_deref ||
		(op.code == RPN_deref_size && op.a == s->width));
}

static const struct block_insn *insn_at(const struct slot *s, size_t index)
{
	return &s->block->insns[index];
}

static bool find_effect(const struct slot *s, size_t index,
			struct arch_effect *effect)
{
	const struct block_insn *insn = insn_at(s, index);

	return arch_effect_find(s->arch, insn->bytes, insn->insn.length,
				insn->address, effect) && effect->known;
}

/* The frame base is a register that the prologue has yet to set, or the stack
 * pointer where it isn't what it is for most of the code (clang): what is meant
 * is what the register has once it is set. */
static bool base_find(struct slot *s, unsigned int number, int64_t *offset)
{
	size_t at = s->block->at;
	int64_t here = 0;
	enum stores_value value;

	value = stores_register(s->stores, insn_at(s, at)->address, number,
				&here);
	if (number == s->arch->stack)
		return stores_settled(s->stores, offset) &&
		       (value != STORES_FRAME || here != *offset);
	if (value != STORES_OTHER || !s->block->entry)
		return false;
	for (; at < s->block->count; at++)
		if (stores_register(s->stores, insn_at(s, at)->address, number,
				    offset) == STORES_FRAME)
			return true;
	return false;
}

/* Of an object that has the variable's own bounds: it isn't a part of another
 * one, as variables of inlined functions may be. */
static bool is_object(const struct compilation *c,
		      const struct compile_site *site,
		      const struct dwarf_variable *variable)
{
	Dwarf_Die die = variable->die;
	struct dwarf_scopes scopes;
	Dwarf_Attribute attr;
	Dwarf_Block block;

	if (!dwarf_attr_integrate(&die, DW_AT_location, &attr) ||
	    dwarf_formblock(&attr, &block) ||
	    dwarf_scopes_find(c->dwarf, site->nominal, &scopes))
		return false;
	for (size_t i = 0; i < scopes.count; i++)
		if (dwarf_tag(&scopes.dies[i]) == DW_TAG_inlined_subroutine)
			return false;
	return true;
}

/* False: it is none of this frame's slots, or where it is isn't known. */
static bool slot_find(struct slot *s, const struct place_piece *piece,
		      uint64_t bytes)
{
	uint64_t address = insn_at(s, s->block->at)->address;
	unsigned int number;
	int64_t base, offset;

	if (piece->kind != PLACE_MEMORY ||
	    !slot_read(s, piece, &number, &offset, &s->pointer))
		return false;
	s->moved = (int)number == s->frame_base && base_find(s, number, &base);
	if (!s->moved && stores_register(s->stores, address, number, &base) !=
			 STORES_FRAME)
		return false;
	if (s->pointer)
		bytes = s->width;
	else if (piece->bytes)
		bytes = piece->bytes;
	s->at = (struct stores_slot) {
		.low = base + offset, .high = base + offset + bytes,
	};
	return bytes && bytes < INT32_MAX;
}

/* An address in the frame, relative to the stack pointer at the site. */
static bool frame_emit(const struct slot *s, int64_t offset, struct bytes *rpn)
{
	int64_t stack;

	if (stores_register(s->stores, insn_at(s, s->block->at)->address,
			    s->arch->stack, &stack) != STORES_FRAME)
		return false;
	rpn_emit_register(rpn, s->arch->stack, offset - stack);
	return true;
}

/* From the CFA on is the caller's frame, with the arguments that it stored. */
static bool is_callers(const struct slot *s, const struct stores_slot *part)
{
	return part->low >= 0;
}

/* What a register or the caller's memory had at the site. */
static enum source value_emit(const struct slot *s, const struct state *state,
			      const struct state_value *value, int64_t skip,
			      uint64_t bytes, struct bytes *rpn)
{
	const struct state_range *range;
	int64_t base;

	if (skip + bytes > value->known || skip + bytes > value->bytes ||
	    value->add)
		return SOURCE_NONE;
	if (value->base < ARCH_REGISTERS) {
		rpn_emit_register(rpn, value->base, 0);
		if (skip) {
			rpn_emit_const(rpn, 8 * skip);
			rpn_emit_op(rpn, RPN_shr);
		}
		return SOURCE_VALUE;
	}
	if (value->base < STATE_OTHERS ||
	    !state->others[value->base - STATE_OTHERS].is_memory)
		return SOURCE_NONE;
	range = &state->others[value->base - STATE_OTHERS].memory;
	if (!state_is_linear(state, &range->address) ||
	    range->address.base >= ARCH_REGISTERS ||
	    stores_register(s->stores, insn_at(s, s->block->at)->address,
			    range->address.base, &base) != STORES_FRAME ||
	    base + range->address.add < 0)
		return SOURCE_NONE;
	rpn_emit_register(rpn, range->address.base,
			  range->address.add + skip);
	return SOURCE_MEMORY;
}

/* The write of that number, of the instruction before. */
static const struct state_write *write_number(const struct state *state,
					      size_t at, size_t number)
{
	for (size_t i = 0; i < state->write_count; i++)
		if (state->writes[i].at == at && !number--)
			return &state->writes[i];
	return NULL;
}

/* What the next store of the block puts there. */
static enum source next_store(struct slot *s, const struct stores_slot *part,
			      bool leaked, struct bytes *rpn)
{
	enum stores_relation relation = STORES_APART;
	enum source source = SOURCE_NONE;
	const struct state_write *write;
	struct arch_effect effect;
	struct state state;
	size_t number, i;
	int64_t skip;

	state_begin(&state, s->arch, -1, true);
	for (i = s->block->at; i < s->block->count; i++) {
		if (!find_effect(s, i, &effect))
			break;
		relation = stores_relate(s->stores, insn_at(s, i)->address,
					 part, &leaked, &number, &skip);
		state_step(&state, i, &insn_at(s, i)->insn, &effect);
		if (relation != STORES_APART)
			break;
	}
	if (relation == STORES_ALL) {
		s->stored = insn_at(s, i)->address;
		write = write_number(&state, i, number);
		if (write)
			source = value_emit(s, &state, &write->value, skip,
					    part->high - part->low, rpn);
	}
	if (state.failed)
		rpn->failed = true;
	state_end(&state);
	return source;
}

/* The instruction in front of the location's range may store it. */
static bool may_begin_stored(struct slot *s, const struct stores_slot *part)
{
	bool leaked = true;
	size_t number;
	int64_t skip;

	for (size_t i = 1; i <= s->block->at; i++)
		if (insn_at(s, i)->address == s->first)
			return stores_relate(s->stores,
					     insn_at(s, i - 1)->address, part,
					     &leaked, &number, &skip) !=
			       STORES_APART;
	return insn_at(s, 0)->address != s->first || !s->after_call;
}

/*
 * The location's range begins with no store to the slot, has none up to the
 * site and one after it (gcc, from the call that yields the value on): what is
 * in the slot is not the variable.
 */
static bool is_early(struct slot *s, const struct stores_slot *part)
{
	enum stores_relation relation = STORES_APART;
	bool leaked = false;
	size_t number, i = 0;
	int64_t skip;

	if (!s->end || may_begin_stored(s, part))
		return false;
	while (insn_at(s, i)->address != s->first)
		i++;
	for (; i < s->block->count && insn_at(s, i)->address < s->end &&
	       relation == STORES_APART; i++)
		relation = stores_relate(s->stores, insn_at(s, i)->address,
					 part, &leaked, &number, &skip);
	if (relation != STORES_ALL || i <= s->block->at)
		return false;
	s->stored = insn_at(s, i - 1)->address;
	return true;
}

/* Where the part of the slot is at the site: in the slot, or where rpn computes
 * it. */
static enum source part_find(struct slot *s, const struct stores_slot *part,
			     struct bytes *rpn)
{
	bool leaked;

	if (is_callers(s, part))
		return SOURCE_SLOT;
	if (stores_before(s->stores, insn_at(s, s->block->at)->address, part,
			  &leaked))
		return is_early(s, part) ? SOURCE_NONE : SOURCE_SLOT;
	return next_store(s, part, leaked, rpn);
}

static int add_absent(struct place *place, uint64_t bytes, const char *why)
{
	struct place_piece *piece = place_add(place, PLACE_ABSENT, bytes);

	if (piece)
		piece->why = strdup(why);
	return piece && piece->why ? 0 : -ENOMEM;
}

static int part_add(const struct slot *s, const struct stores_slot *part,
		    enum source source, struct bytes *rpn, uint64_t bytes,
		    struct place *place)
{
	struct place_piece *piece;

	if (source == SOURCE_NONE)
		return add_absent(place, bytes, WHY);
	piece = place_add(place, source == SOURCE_VALUE && !s->pointer ?
				 PLACE_VALUE : PLACE_MEMORY, bytes);
	if (!piece)
		return -ENOMEM;
	if (source == SOURCE_SLOT && !frame_emit(s, part->low, &piece->rpn))
		return -ENODATA;
	bytes_join(&piece->rpn, rpn);
	if (s->pointer && source != SOURCE_VALUE)
		rpn_emit_deref(&piece->rpn, s->width);
	return piece->rpn.failed ? -ENOMEM : 0;
}

/* The slot's parts that one register each may have, as pieces. *changed: one
 * of them is not in the slot. */
static int parts_add(struct slot *s, uint64_t bytes, struct place *place,
		     bool *changed)
{
	int64_t size = s->at.high - s->at.low;
	int64_t step = size <= PARTS_MAX * s->width ? s->width : size;
	int code = 0;

	for (int64_t low = s->at.low; low < s->at.high && !code; low += step) {
		struct stores_slot part = s->at;
		struct bytes rpn = {0};
		enum source source;

		part.low = low;
		if (part.high - low > step)
			part.high = low + step;
		source = part_find(s, &part, &rpn);
		*changed |= source != SOURCE_SLOT || s->moved;
		code = part_add(s, &part, source, &rpn,
				size <= step ? bytes : (uint64_t)
					       (part.high - part.low),
				place);
		bytes_free(&rpn);
	}
	return code;
}

static int piece_keep(struct place_piece *piece, struct place *place)
{
	struct place_piece *kept = place_add(place, piece->kind, piece->bytes);

	if (!kept)
		return -ENOMEM;
	kept->rpn = piece->rpn;
	kept->why = piece->why;
	memset(&piece->rpn, 0, sizeof(piece->rpn));
	piece->why = NULL;
	return 0;
}

/* The register has an address in the frame. */
static bool is_frame_register(const struct slot *s, unsigned int number)
{
	int64_t offset;

	return number == s->arch->stack || (int)number == s->frame_base ||
	       (s->stores && number == s->arch->frame &&
		stores_register(s->stores, insn_at(s, s->block->at)->address,
				number, &offset) == STORES_FRAME);
}

/* The value is computed with an address in the frame, which nothing reads. */
static bool has_address(const struct slot *s, const struct bytes *rpn)
{
	struct rpn_op op = { 0 }, then;
	uint64_t number;
	int64_t sum = 0;

	while (rpn_next(rpn->data, rpn->size, &op)) {
		int64_t offset;
		size_t end;

		if (!rpn_is_register(&op, &number, &offset) ||
		    !is_frame_register(s, number))
			continue;
		end = sum_read(s, rpn, op.next, &sum);
		if (rpn_decode(rpn->data, rpn->size, end, &then) ||
		    (then.code != RPN_deref && then.code != RPN_deref_size))
			return true;
	}
	return false;
}

/* A register was stored there, and nothing has the address. */
static bool is_spilled(struct slot *s, const struct place_piece *piece)
{
	struct place_piece slot = *piece;
	bool leaked;

	slot.kind = PLACE_MEMORY;
	return s->stores && slot_find(s, &slot, s->width) &&
	       stores_before(s->stores, insn_at(s, s->block->at)->address,
			     &s->at, &leaked) && !leaked;
}

/*
 * Where a value is computed from one that was spilled to the frame, clang
 * computes with the slot's address (LLVM 14, "DW_OP_breg7 RSP+8, DW_OP_convert,
 * ..., DW_OP_stack_value"). Only a pointer may be such an address; one of any
 * compiler is as long as that.
 */
static bool is_address(struct slot *s, const struct place_piece *piece,
		       uint64_t bytes)
{
	unsigned int number;
	int64_t offset;
	bool memory, plain;

	if (piece->bytes)
		bytes = piece->bytes;
	if (piece->kind != PLACE_VALUE || !has_address(s, &piece->rpn))
		return false;
	plain = slot_read(s, piece, &number, &offset, &memory) && !memory;
	if (!s->clang)
		return plain && bytes < s->width && number == s->arch->stack;
	return !plain || bytes != s->width || s->number || is_spilled(s, piece);
}

static int piece_settle(struct slot *s, struct place_piece *piece,
			uint64_t bytes, bool object, struct place *place)
{
	size_t count = place->count;
	bool changed = false;
	int code;

	if (is_address(s, piece, bytes))
		return add_absent(place, piece->bytes, WHY_ADDRESS);
	if (!slot_find(s, piece, bytes))
		return piece_keep(piece, place);
	if (object && !s->pointer) {
		s->at.object_low = s->at.low;
		s->at.object_high = s->at.high;
	}
	code = parts_add(s, piece->bytes, place, &changed);
	if (code == -ENOMEM || (!code && changed))
		return code;
	while (place->count > count) {
		struct place_piece *last = &place->pieces[--place->count];

		bytes_free(&last->rpn);
		free(last->why);
	}
	return piece_keep(piece, place);
}

static void describe(const struct slot *s, struct place *place)
{
	struct rpn_op op;
	char name[16];

	if (place->pieces[0].kind == PLACE_VALUE &&
	    !rpn_decode(place->pieces[0].rpn.data, place->pieces[0].rpn.size, 0,
			&op) &&
	    op.code >= RPN_breg && op.code <= RPN_breg_last &&
	    arch_register_print(s->arch, op.index, name, sizeof(name)))
		snprintf(place->where, sizeof(place->where), "register %s",
			 name);
}

/* Nothing of it is anywhere. */
static int check(const struct compilation *c, const struct slot *s,
		 const struct place *place, struct error *err)
{
	char name[320];

	for (size_t i = 0; i < place->count; i++)
		if (place->pieces[i].kind != PLACE_ABSENT)
			return 0;
	error_set(err, -ENODATA, "%s", place->pieces[0].why);
	if (s->stored) {
		analysis_name(c, s->stored, name, sizeof(name));
		error_hint(err, "it is stored by the instruction at %s", name);
	}
	return -ENODATA;
}

/* 1: not known. */
static uint64_t variable_bytes(const struct slot *s,
			       const struct dwarf_variable *variable)
{
	Dwarf_Die bare;
	uint64_t bytes;

	if (!variable->type.addr)
		return 1;
	dwarf_type_peel(&variable->type, &bare, NULL);
	if (dwarf_type_kind(&bare) == DWARF_TYPE_REFERENCE)
		return s->width;
	return dwarf_type_bytes(&bare, &bytes) ? bytes : 1;
}

static bool is_number(const struct dwarf_variable *variable)
{
	Dwarf_Die bare;

	if (!variable->type.addr)
		return false;
	dwarf_type_peel(&variable->type, &bare, NULL);
	switch (dwarf_type_kind(&bare)) {
	case DWARF_TYPE_BOOL:
	case DWARF_TYPE_CHAR:
	case DWARF_TYPE_INT:
	case DWARF_TYPE_FLOAT:
	case DWARF_TYPE_ENUM:
		return true;
	default:
		return false;
	}
}

static int place_settle(const struct compilation *c,
			const struct compile_site *site,
			const struct dwarf_variable *variable, struct slot *s,
			struct place *place, struct error *err)
{
	uint64_t bytes = variable_bytes(s, variable);
	struct place settled = {0};
	int code = 0;

	for (size_t i = 0; i < place->count && !code; i++)
		code = piece_settle(s, &place->pieces[i], bytes,
				    place->count == 1 &&
				    is_object(c, site, variable), &settled);
	memcpy(settled.where, place->where, sizeof(settled.where));
	place_free(place);
	*place = settled;
	if (code)
		return code;
	describe(s, place);
	return check(c, s, place, err);
}

static bool is_after_call(const struct compilation *c,
			  const struct block *block)
{
	uint64_t entry, first = block->insns->address;
	const struct flow_part *part;
	const struct flow *flow;
	struct arch_insn insn;

	if (analysis_flow(c, first, &flow, &entry))
		return false;
	part = flow_part_find(flow, first);
	return part && !(part->marks[first - part->start] & FLOW_TARGET) &&
	       flow_insn_before(flow, part, first - part->start, &insn) >= 0 &&
	       insn.flow == ARCH_FLOW_CALL;
}

int slot_settle(const struct compilation *c, const struct compile_site *site,
		const struct dwarf_variable *variable, struct place *place,
		struct error *err)
{
	struct dwarf_context context = {
		.dwarf = c->dwarf, .pc = site->nominal,
	};
	struct slot s = {
		.arch = c->module->arch, .frame_base = -1,
		.width = c->module->elf_class == ELFCLASS64 ? 8 : 4,
	};
	struct dwarf_scopes scopes;
	struct block block = {0};
	unsigned int number;
	int code;

	if (!variable->local || !c->module->elf || !place->count)
		return 0;
	if (!dwarf_scopes_find(c->dwarf, site->nominal, &scopes) &&
	    scopes.count) {
		context.function = scopes.dies[0];
		s.clang = dwarf_scopes_are_clang(&scopes);
	}
	s.number = is_number(variable);
	if (dwarf_frame_base_register(&context, &number))
		s.frame_base = number;
	s.end = dwarf_variable_end(variable, site->nominal, &s.first);
	code = analysis_block(c, site->nominal, &block);
	s.block = &block;
	s.after_call = !code && is_after_call(c, &block);
	if (!code)
		code = analysis_stores(c, site->nominal,
				       s.frame_base == (int)s.arch->stack ?
					       NULL : &block,
				       &s.stores);
	if (!code)
		code = place_settle(c, site, variable, &s, place, err);
	block_free(&block);
	return code == -ENOENT ? 0 : code;
}

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
#define WHY_EARLY	"its slot in the frame is not stored yet"

struct frame_slot {
	const struct stores *stores;
	const struct block *block;	/* at the site */
	const struct arch *arch;
	unsigned int width;
	int frame_base;		/* the register that is; -1: none */
	bool after_call;	/* the block begins after one */
	bool clang;		/* clang has compiled it */
	bool number;		/* the variable is no address */
	struct stores_slot at;
	bool moved;		/* the register of its location has another
				 * value at the site */
	bool pointer;		/* it has the address of what is meant */
	uint64_t first, end;	/* of the location's range; end 0: everywhere */
	uint64_t stored;	/* the instruction that stores it; 0: unknown */
};

enum slot_source { SLOT_STORED, SLOT_VALUE, SLOT_MEMORY, SLOT_NOWHERE };

/* What is added to the top from there on; a sum of 32 bits is cut to these.
 * Returns the offset of what else there is. */
static size_t sum_read(const struct frame_slot *s, const struct bytes *rpn,
		       size_t at, int64_t *sum)
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
static bool slot_read(const struct frame_slot *s,
		      const struct place_piece *piece, uint64_t *number,
		      int64_t *offset, bool *pointer)
{
	const struct bytes *rpn = &piece->rpn;
	struct rpn_op op;
	size_t at;

	*pointer = false;
	if (piece->kind == PLACE_ABSENT ||
	    rpn_decode(rpn->data, rpn->size, 0, &op) ||
	    !rpn_is_register(&op, number, offset) ||
	    *number >= ARCH_REGISTERS)
		return false;
	at = sum_read(s, rpn, op.next, offset);
	if (at == rpn->size)
		return true;
	*pointer = true;
	return !rpn_decode(rpn->data, rpn->size, at, &op) &&
	       op.next == rpn->size &&
	       (op.code == RPN_deref ||
		(op.code == RPN_deref_size && op.a == s->width));
}

static uint64_t insn_address(const struct frame_slot *s, size_t index)
{
	return s->block->insns[index].address;
}

/* The register has an address in the frame at the site. */
static bool frame_offset(const struct frame_slot *s, unsigned int number,
			 int64_t *offset)
{
	return stores_register(s->stores, insn_address(s, s->block->at),
			       number, offset) == STORES_FRAME;
}

/* The frame base is a register that the prologue has yet to set, or the stack
 * pointer where it isn't what it is for most of the code (clang): what is meant
 * is what the register has once it is set. */
static bool slot_base_find(struct frame_slot *s, unsigned int number,
			   int64_t *offset)
{
	size_t at = s->block->at;
	int64_t here = 0;
	enum stores_value value = stores_register(s->stores,
						  insn_address(s, at), number,
						  &here);

	if (number == s->arch->stack)
		return stores_settled(s->stores, offset) &&
		       (value != STORES_FRAME || here != *offset);
	if (value != STORES_OTHER || !s->block->entry)
		return false;
	for (; at < s->block->count; at++)
		if (stores_register(s->stores, insn_address(s, at), number,
				    offset) == STORES_FRAME)
			return true;
	return false;
}

/* False: it is none of this frame's slots, or where it is isn't known. */
static bool frame_slot_find(struct frame_slot *s,
			    const struct place_piece *piece, uint64_t bytes)
{
	uint64_t number;
	int64_t base, offset;

	if (piece->kind != PLACE_MEMORY ||
	    !slot_read(s, piece, &number, &offset, &s->pointer))
		return false;
	s->moved = (int)number == s->frame_base &&
		   slot_base_find(s, number, &base);
	if (!s->moved && !frame_offset(s, number, &base))
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

/* What a register or the caller's memory had at the site. */
static enum slot_source source_emit(const struct frame_slot *s,
				    const struct state *state,
				    const struct state_value *value,
				    int64_t skip, uint64_t bytes,
				    struct bytes *rpn)
{
	const struct state_range *range;
	int64_t base;

	if (skip + bytes > value->known || skip + bytes > value->bytes ||
	    value->add)
		return SLOT_NOWHERE;
	if (value->base < ARCH_REGISTERS) {
		rpn_emit_register(rpn, value->base, 0);
		if (skip) {
			rpn_emit_const(rpn, 8 * skip);
			rpn_emit_op(rpn, RPN_shr);
		}
		return SLOT_VALUE;
	}
	if (value->base < STATE_OTHERS ||
	    !state->others[value->base - STATE_OTHERS].is_memory)
		return SLOT_NOWHERE;
	range = &state->others[value->base - STATE_OTHERS].memory;
	if (!state_is_linear(state, &range->address) ||
	    range->address.base >= ARCH_REGISTERS ||
	    !frame_offset(s, range->address.base, &base) ||
	    base + range->address.add < 0)
		return SLOT_NOWHERE;
	rpn_emit_register(rpn, range->address.base,
			  range->address.add + skip);
	return SLOT_MEMORY;
}

/* What the next store of the block puts there. */
static enum slot_source next_store(struct frame_slot *s,
				   const struct stores_slot *part, bool leaked,
				   struct bytes *rpn)
{
	enum stores_relation relation = STORES_APART;
	enum slot_source source = SLOT_NOWHERE;
	struct state state;
	size_t number, i;
	int64_t skip;

	state_begin(&state, s->arch, -1, true);
	for (i = s->block->at; i < s->block->count; i++) {
		const struct block_insn *insn = &s->block->insns[i];
		struct arch_effect effect;

		if (!arch_effect_find(s->arch, insn->bytes, insn->insn.length,
				      insn->address, &effect) || !effect.known)
			break;
		relation = stores_relate(s->stores, insn->address, part,
					 &leaked, &number, &skip);
		state_step(&state, i, &insn->insn, &effect);
		if (relation != STORES_APART)
			break;
	}
	if (relation == STORES_ALL) {
		s->stored = insn_address(s, i);
		/* the write of that number among those of the instruction */
		for (size_t w = 0; w < state.write_count; w++)
			if (state.writes[w].at == i && !number--) {
				source = source_emit(s, &state,
						     &state.writes[w].value,
						     skip,
						     part->high - part->low,
						     rpn);
				break;
			}
	}
	if (state.failed)
		rpn->failed = true;
	state_end(&state);
	return source;
}

/*
 * The location's range begins with no store to the slot, has none up to the
 * site and one after it (gcc, from the call that yields the value on): what is
 * in the slot is not the variable.
 */
static bool is_early(struct frame_slot *s, const struct stores_slot *part)
{
	enum stores_relation relation = STORES_APART;
	bool leaked = true;
	size_t number, i;
	int64_t skip;

	if (!s->end)
		return false;
	/* the instruction before the range may store it */
	for (i = 0; i <= s->block->at && insn_address(s, i) != s->first;)
		i++;
	if (i > s->block->at || (!i && !s->after_call) ||
	    (i && stores_relate(s->stores, insn_address(s, i - 1), part,
				&leaked, &number, &skip) != STORES_APART))
		return false;
	leaked = false;
	for (; i < s->block->count && insn_address(s, i) < s->end &&
	       relation == STORES_APART; i++)
		relation = stores_relate(s->stores, insn_address(s, i), part,
					 &leaked, &number, &skip);
	if (relation != STORES_ALL || i <= s->block->at)
		return false;
	s->stored = insn_address(s, i - 1);
	return true;
}

static int absent_add(struct place *place, uint64_t bytes, const char *why)
{
	struct place_piece *piece = place_add(place, PLACE_ABSENT, bytes);

	if (piece)
		piece->why = strdup(why);
	return piece && piece->why ? 0 : -ENOMEM;
}

static int slot_part_add(const struct frame_slot *s,
			 const struct stores_slot *part,
			 enum slot_source source, struct bytes *rpn,
			 uint64_t bytes, struct place *place)
{
	struct place_piece *piece;
	int64_t stack;

	if (source == SLOT_NOWHERE)
		return absent_add(place, bytes, WHY_EARLY);
	piece = place_add(place, source == SLOT_VALUE && !s->pointer ?
				 PLACE_VALUE : PLACE_MEMORY, bytes);
	if (!piece)
		return -ENOMEM;
	if (source == SLOT_STORED) {
		if (!frame_offset(s, s->arch->stack, &stack))
			return -ENODATA;
		rpn_emit_register(&piece->rpn, s->arch->stack,
				  part->low - stack);
	}
	bytes_join(&piece->rpn, rpn);
	if (s->pointer && source != SLOT_VALUE)
		rpn_emit_deref(&piece->rpn, s->width);
	return piece->rpn.failed ? -ENOMEM : 0;
}

/* The slot's parts that one register each may have, as pieces. *changed: one
 * of them is not in the slot. */
static int slot_parts_add(struct frame_slot *s, uint64_t bytes,
			  struct place *place, bool *changed)
{
	int64_t size = s->at.high - s->at.low;
	int64_t step = size <= PARTS_MAX * s->width ? s->width : size;
	bool leaked;
	int code = 0;

	for (int64_t low = s->at.low; low < s->at.high && !code; low += step) {
		struct stores_slot part = s->at;
		struct bytes rpn = {0};
		enum slot_source source;

		part.low = low;
		if (part.high - low > step)
			part.high = low + step;
		/* from the CFA on is the caller's frame, with the arguments
		 * that it stored */
		if (low >= 0)
			source = SLOT_STORED;
		else if (stores_before(s->stores,
				       insn_address(s, s->block->at), &part,
				       &leaked))
			source = is_early(s, &part) ? SLOT_NOWHERE :
						      SLOT_STORED;
		else
			source = next_store(s, &part, leaked, &rpn);
		*changed |= source != SLOT_STORED || s->moved;
		code = slot_part_add(s, &part, source, &rpn,
				     size <= step ? bytes : (uint64_t)
						    (part.high - part.low),
				     place);
		bytes_free(&rpn);
	}
	return code;
}

/* The value is computed with an address in the frame, which nothing reads. */
static bool has_frame_address(const struct frame_slot *s,
			      const struct bytes *rpn)
{
	struct rpn_op op = {0}, then;
	int64_t sum = 0, offset;
	uint64_t number;
	size_t end;

	while (rpn_next(rpn->data, rpn->size, &op)) {
		if (!rpn_is_register(&op, &number, &offset) ||
		    (number != s->arch->stack &&
		     (int)number != s->frame_base &&
		     !(s->stores && number == s->arch->frame &&
		       frame_offset(s, number, &offset))))
			continue;
		end = sum_read(s, rpn, op.next, &sum);
		if (rpn_decode(rpn->data, rpn->size, end, &then) ||
		    (then.code != RPN_deref && then.code != RPN_deref_size))
			return true;
	}
	return false;
}

/*
 * Where a value is computed from one that was spilled to the frame, clang
 * computes with the slot's address (LLVM 14, "DW_OP_breg7 RSP+8, DW_OP_convert,
 * ..., DW_OP_stack_value"). Only a pointer may be such an address; one of any
 * compiler is as long as that.
 */
static bool is_address(struct frame_slot *s, const struct place_piece *piece,
		       uint64_t bytes)
{
	struct place_piece slot = *piece;
	uint64_t number;
	int64_t offset;
	bool memory, plain, leaked;

	if (piece->bytes)
		bytes = piece->bytes;
	if (piece->kind != PLACE_VALUE || !has_frame_address(s, &piece->rpn))
		return false;
	plain = slot_read(s, piece, &number, &offset, &memory) && !memory;
	if (!s->clang)
		return plain && bytes < s->width && number == s->arch->stack;
	if (!plain || bytes != s->width || s->number)
		return true;
	/* a register was stored there, and nothing has the address */
	slot.kind = PLACE_MEMORY;
	return s->stores && frame_slot_find(s, &slot, s->width) &&
	       stores_before(s->stores, insn_address(s, s->block->at), &s->at,
			     &leaked) && !leaked;
}

static int piece_settle(struct frame_slot *s, struct place_piece *piece,
			uint64_t bytes, bool object, struct place *place)
{
	size_t count = place->count;
	struct place_piece *kept;
	bool changed = false;
	int code;

	if (is_address(s, piece, bytes))
		return absent_add(place, piece->bytes, WHY_ADDRESS);
	if (frame_slot_find(s, piece, bytes)) {
		if (object && !s->pointer) {
			s->at.object_low = s->at.low;
			s->at.object_high = s->at.high;
		}
		code = slot_parts_add(s, piece->bytes, place, &changed);
		if (code == -ENOMEM || (!code && changed))
			return code;
		while (place->count > count) {
			struct place_piece *last =
				&place->pieces[--place->count];

			bytes_free(&last->rpn);
			free(last->why);
		}
	}
	/* as it was */
	kept = place_add(place, piece->kind, piece->bytes);
	if (!kept)
		return -ENOMEM;
	kept->rpn = piece->rpn;
	kept->why = piece->why;
	memset(&piece->rpn, 0, sizeof(piece->rpn));
	piece->why = NULL;
	return 0;
}

/* An object with bounds of its own is no part of another one, as variables of
 * inlined functions may be. */
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

/* Bytes of the variable, 1: not known; *number: it is no address. */
static uint64_t variable_bytes(const struct frame_slot *s,
			       const struct dwarf_variable *variable,
			       bool *number)
{
	Dwarf_Die bare;
	uint64_t bytes;

	*number = false;
	if (!variable->type.addr)
		return 1;
	dwarf_type_peel(&variable->type, &bare, NULL);
	switch (dwarf_type_kind(&bare)) {
	case DWARF_TYPE_REFERENCE:
		return s->width;
	case DWARF_TYPE_BOOL:
	case DWARF_TYPE_CHAR:
	case DWARF_TYPE_INT:
	case DWARF_TYPE_FLOAT:
	case DWARF_TYPE_ENUM:
		*number = true;
		break;
	default:
		break;
	}
	return dwarf_type_bytes(&bare, &bytes) ? bytes : 1;
}

static int slot_place_settle(const struct compilation *c,
			     const struct compile_site *site,
			     const struct dwarf_variable *variable,
			     struct frame_slot *s, struct place *place,
			     struct error *err)
{
	uint64_t bytes = variable_bytes(s, variable, &s->number);
	struct place settled = {0};
	uint64_t number;
	struct rpn_op op;
	int64_t offset;
	char name[320], reg[16];
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
	if (place->pieces[0].kind == PLACE_VALUE &&
	    !rpn_decode(place->pieces[0].rpn.data, place->pieces[0].rpn.size, 0,
			&op) &&
	    op.code != RPN_bregx && rpn_is_register(&op, &number, &offset) &&
	    arch_register_print(s->arch, number, reg, sizeof(reg)))
		snprintf(place->where, sizeof(place->where), "register %s",
			 reg);
	for (size_t i = 0; i < place->count; i++)
		if (place->pieces[i].kind != PLACE_ABSENT)
			return 0;
	/* nothing of it is anywhere */
	error_set(err, -ENODATA, "%s", place->pieces[0].why);
	if (s->stored) {
		analysis_name(c, s->stored, name, sizeof(name));
		error_hint(err, "it is stored by the instruction at %s", name);
	}
	return -ENODATA;
}

int slot_settle(const struct compilation *c, const struct compile_site *site,
		const struct dwarf_variable *variable, struct place *place,
		struct error *err)
{
	struct dwarf_context context = {
		.dwarf = c->dwarf, .pc = site->nominal,
	};
	struct frame_slot s = {
		.arch = c->module->arch, .frame_base = -1,
		.width = c->module->elf_class == ELFCLASS64 ? 8 : 4,
	};
	struct dwarf_scopes scopes;
	const struct flow_part *part;
	const struct flow *flow;
	struct block block = {0};
	struct arch_insn insn;
	unsigned int number;
	uint64_t entry, first;
	int code;

	if (!variable->local || !c->module->elf || !place->count)
		return 0;
	if (!dwarf_scopes_find(c->dwarf, site->nominal, &scopes) &&
	    scopes.count) {
		context.function = scopes.dies[0];
		s.clang = dwarf_scopes_are_clang(&scopes);
	}
	if (dwarf_frame_base_register(&context, &number))
		s.frame_base = number;
	s.end = dwarf_variable_end(variable, site->nominal, &s.first);
	code = analysis_block(c, site->nominal, &block);
	s.block = &block;
	first = code ? 0 : block.insns->address;
	if (!code && !analysis_flow(c, first, &flow, &entry)) {
		part = flow_part_find(flow, first);
		s.after_call = part &&
			!(part->marks[first - part->start] & FLOW_TARGET) &&
			flow_insn_before(flow, part, first - part->start,
					 &insn) >= 0 &&
			insn.flow == ARCH_FLOW_CALL;
	}
	if (!code)
		code = analysis_stores(c, site->nominal,
				       s.frame_base == (int)s.arch->stack ?
					       NULL : &block,
				       &s.stores);
	if (!code)
		code = slot_place_settle(c, site, variable, &s, place, err);
	block_free(&block);
	return code == -ENOENT ? 0 : code;
}

// SPDX-License-Identifier: GPL-2.0
#include "settle.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis.h"
#include "lib/formats/rpn.h"
#include "state.h"

/*
 * Registers that a function gives back as it found them (callee-saved ones): it
 * saves them in its frame and loads them again before it returns. From that
 * load on they have the caller's values, whatever the debug information says:
 * gcc describes a `register` variable of -O0 by one location for the whole
 * function.
 */

#define LOOKED_AT	64	/* instructions, either way */

#define BIT(number)	((number) < ARCH_REGISTERS ? 1u << (number) : 0)

uint32_t restored_loads(const struct arch *arch,
			const struct arch_effect *effect)
{
	unsigned int width = arch->elf_class == ELFCLASS64 ? 8 : 4;
	uint32_t loaded = 0;

	for (uint8_t i = 0; i < effect->count; i++) {
		const struct arch_transfer *t = &effect->transfers[i];

		if (!t->to_memory && t->source == ARCH_SOURCE_MEMORY &&
		    t->memory.space == ARCH_SPACE_BASE &&
		    (t->memory.base == arch->stack ||
		     t->memory.base == arch->frame) &&
		    t->memory.bytes == width && t->to != arch->stack &&
		    arch_register_is_kept(arch, t->to))
			loaded |= BIT(t->to);
	}
	return loaded;
}

uint32_t restored_writes(const struct arch_effect *effect)
{
	uint32_t written = 0;

	for (uint8_t i = 0; i < effect->count; i++)
		if (!effect->transfers[i].to_memory)
			written |= BIT(effect->transfers[i].to);
	return written;
}

static bool restored_effect(const struct flow *flow,
			    const struct flow_part *part, uint32_t at,
			    struct arch_effect *effect)
{
	return arch_effect_find(flow->source.module->arch, part->bytes + at,
				part->size - at, part->start + at, effect) &&
	       effect->known;
}

/* The code from `at` leads out of the function, the only way and without a
 * call: *written has the registers that are written on it. */
static bool leaves(const struct flow *flow, const struct flow_part *part,
		   uint32_t at, uint32_t *written)
{
	for (int i = 0; i < LOOKED_AT; i++) {
		struct arch_effect effect;
		struct arch_insn insn;
		uint64_t target;

		if (at >= part->size || !flow_insn(flow, part, at, &insn))
			return false;
		if (insn.flow == ARCH_FLOW_RETURN ||
		    (insn.flow == ARCH_FLOW_COMPUTED &&
		     !(part->marks[at] & FLOW_SWITCH)))
			return true;
		if (insn.flow == ARCH_FLOW_JUMP) {
			target = flow_target(flow, part->start + at, &insn);
			part = flow_part_find(flow, target);
			if (!part)
				return true;
			at = target - part->start;
			continue;
		}
		if (insn.flow != ARCH_FLOW_NEXT ||
		    !restored_effect(flow, part, at, &effect))
			return false;
		*written |= restored_writes(&effect);
		at += insn.length;
	}
	return false;
}

/* The registers that the code before the nominal address has restored. 0 or
 * -ENOMEM. */
static int restored_find(const struct compilation *c,
			 const struct compile_site *site, uint32_t *restored)
{
	const struct flow_part *part;
	const struct flow *flow;
	uint32_t written = 0, at;
	int code = analysis_flow(c, site->nominal, &flow, NULL);

	*restored = 0;
	if (code)
		return code == -ENOENT ? 0 : code;
	part = flow_part_find(flow, site->nominal);
	at = part ? site->nominal - part->start : 0;
	if (!part || !leaves(flow, part, at, &written))
		return 0;
	/* loaded on the straight line that ends here, and not written since */
	for (int i = 0; i < LOOKED_AT && !(part->marks[at] & FLOW_TARGET);
	     i++) {
		struct arch_effect effect;
		struct arch_insn insn;
		int64_t before = flow_insn_before(flow, part, at, &insn);

		if (before < 0 || insn.flow != ARCH_FLOW_NEXT ||
		    !restored_effect(flow, part, before, &effect))
			break;
		*restored |= restored_loads(c->module->arch, &effect) &
			     ~written;
		written |= restored_writes(&effect);
		at = before;
	}
	return 0;
}

/* The first of the registers that the place is computed from; -1: none. */
static int register_of(const struct place *place, uint32_t registers)
{
	uint64_t number;
	int64_t offset;

	for (size_t i = 0; i < place->count; i++) {
		const struct bytes *rpn = &place->pieces[i].rpn;
		struct rpn_op op = {0};

		while (rpn_next(rpn->data, rpn->size, &op))
			if (op.code != RPN_bregx &&
			    rpn_is_register(&op, &number, &offset) &&
			    registers & BIT(number))
				return number;
	}
	return -1;
}

int restored_check(const struct compilation *c, const struct compile_site *site,
		   const struct place *place, struct error *err)
{
	const struct arch *arch = c->module->arch;
	uint32_t kept = 0, restored;
	char name[16];
	int number;

	for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
		if (arch_register_is_kept(arch, i) && i != arch->stack)
			kept |= BIT(i);
	if (!c->analysis || !c->module->elf || register_of(place, kept) < 0 ||
	    analysis_source(c)->keeps_none)
		return 0;
	if (restored_find(c, site, &restored))
		return error_no_memory(err);
	number = register_of(place, restored);
	if (number < 0)
		return 0;
	arch_register_print(arch, number, name, sizeof(name));
	return error_set(err, -ENODATA, "it was in %s, which has the caller's "
			 "value again here", name);
}

/* Nothing of it is anywhere: why. */
static bool is_absent(const struct place *place, struct error *err)
{
	for (size_t i = 0; i < place->count; i++)
		if (place->pieces[i].kind != PLACE_ABSENT)
			return false;
	error_set(err, -ENODATA, "%s", place->pieces[0].why);
	return true;
}

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
			   const struct place_piece *piece, uint64_t *number)
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

/*
 * A parameter may be described as still in the register that it came in where
 * the compiler has put something else there already. At a site that is no later
 * than the first statement of its function it has the value that the caller
 * gave: a part whose register another value was put in becomes a register that
 * has a copy, or absent. At later ones a part of a structure is absent whose
 * register may have been written to.
 */
static int parameter_settle(const struct compilation *c,
			    const struct compile_site *site,
			    const struct dwarf_variable *variable,
			    const struct block *block, struct place *place)
{
	struct judge judge = {
		.c = c, .variable = variable, .site = site->nominal,
	};
	enum dwarf_type_kind kind = DWARF_TYPE_OTHER;
	struct place entry = {0};
	const struct flow *flow;
	Dwarf_Die bare;
	uint64_t start;
	bool first;
	int code = analysis_flow(c, site->nominal, &flow, &start);

	if (code)
		return code;
	/* no statement of the function has run: it begins with the block */
	first = block->entry &&
		site->nominal <= analysis_after_prologue(c, start, 0);
	/* later only of a structure, or of what several registers have */
	if (variable->type.addr) {
		dwarf_type_peel(&variable->type, &bare, NULL);
		kind = dwarf_type_kind(&bare);
	}
	if (!first && place->count == 1 && kind != DWARF_TYPE_STRUCT &&
	    kind != DWARF_TYPE_UNION)
		return 0;
	code = dwarf_variable_place(c->dwarf, variable, start, &entry, NULL);
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

#define PARTS_MAX	16	/* of a slot that registers may have */
#define WHY_ADDRESS	"debug information has an address for its value"
#define WHY_REFERENCE	"debug information has a slot of its address for it"
#define WHY_EARLY	"its slot in the frame is not stored yet"

struct frame_slot {
	const struct compilation *c;
	const struct compile_site *site;
	const struct dwarf_variable *variable;
	const struct stores *stores;
	const struct block *block;	/* at the site */
	const struct arch *arch;
	unsigned int width;
	int frame_base;		/* the register that is; -1: none */
	bool after_call;	/* the block begins after one */
	bool clang;		/* clang has compiled it */
	bool by_address;	/* C++ passes it by its address */
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
	    !rpn_is_register(&op, number, offset) || *number >= ARCH_REGISTERS)
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
	enum stores_value value =
		stores_register(s->stores, insn_address(s, at), number, &here);

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
	if (value->base >= STATE_VECTORS && value->base <= STATE_VECTORS_LAST) {
		rpn_emit_vector(rpn, s->arch->vector_first + value->base -
					STATE_VECTORS, false);
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
	rpn_emit_register(rpn, range->address.base, range->address.add + skip);
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
				source = source_emit(
					s, &state, &state.writes[w].value, skip,
					part->high - part->low, rpn);
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
		else if (stores_before(s->stores, insn_address(s, s->block->at),
				       &part, &leaked))
			source =
				is_early(s, &part) ? SLOT_NOWHERE : SLOT_STORED;
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
		    (number != s->arch->stack && (int)number != s->frame_base &&
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

/*
 * An argument that C++ passes by address: in the frame, or among the arguments
 * on the stack, is its address at most. clang describes the object as if it were
 * there (LLVM 14, "DW_OP_fbreg +24" with optimisation). 1: the piece leads to
 * the object now, if it did not; 0: it can't; the argument's slot is known.
 */
static bool reference_settle(struct frame_slot *s, struct place_piece *piece)
{
	uint64_t number;
	int64_t offset;
	bool found;

	if (!s->by_address || piece->kind != PLACE_MEMORY ||
	    !slot_read(s, piece, &number, &offset, &s->pointer) || s->pointer)
		return true;
	found = frame_slot_find(s, piece, s->width);
	if (!found && number != s->arch->stack && (int)number != s->frame_base)
		return true;
	if (!found || s->at.low < 0)
		return false;
	rpn_emit_deref(&piece->rpn, s->width);
	return true;
}

static int piece_settle(struct frame_slot *s, struct place_piece *piece,
			uint64_t bytes, bool object, struct place *place)
{
	size_t count = place->count;
	struct place_piece *kept;
	bool changed = false;
	int code;

	if (!reference_settle(s, piece))
		return absent_add(place, piece->bytes, WHY_REFERENCE);
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
static bool is_object(const struct frame_slot *s)
{
	Dwarf_Die die = s->variable->die;
	struct dwarf_scopes scopes;
	Dwarf_Attribute attr;
	Dwarf_Block block;

	if (!dwarf_die_location(&die, DW_AT_location, &attr) ||
	    dwarf_formblock(&attr, &block) ||
	    dwarf_scopes_find(s->c->dwarf, s->site->nominal, &scopes))
		return false;
	for (size_t i = 0; i < scopes.count; i++)
		if (dwarf_tag(&scopes.dies[i]) == DW_TAG_inlined_subroutine)
			return false;
	return true;
}

/* Bytes of the variable, 1: not known; s->number: it is no address. */
static uint64_t variable_bytes(struct frame_slot *s)
{
	const Dwarf_Die *type = &s->variable->type;
	enum dwarf_type_kind kind;
	Dwarf_Die bare;
	uint64_t bytes;

	if (!type->addr)
		return 1;
	dwarf_type_peel(type, &bare, NULL);
	kind = dwarf_type_kind(&bare);
	if (kind == DWARF_TYPE_REFERENCE)
		return s->width;
	s->number = kind == DWARF_TYPE_BOOL || kind == DWARF_TYPE_CHAR ||
		    kind == DWARF_TYPE_INT || kind == DWARF_TYPE_FLOAT ||
		    kind == DWARF_TYPE_ENUM;
	return dwarf_type_bytes(&bare, &bytes) ? bytes : 1;
}

static int slot_place_settle(struct frame_slot *s, struct place *place,
			     struct error *err)
{
	uint64_t bytes = variable_bytes(s);
	struct place settled = {0};
	uint64_t number;
	struct rpn_op op;
	int64_t offset;
	char name[320], reg[16];
	int code = 0;

	for (size_t i = 0; i < place->count && !code; i++)
		code = piece_settle(s, &place->pieces[i], bytes,
				    place->count == 1 && is_object(s),
				    &settled);
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
	if (!is_absent(place, err))
		return 0;
	if (s->stored) {
		analysis_name(s->c, s->stored, name, sizeof(name));
		error_hint(err, "it is stored by the instruction at %s", name);
	}
	return -ENODATA;
}

/* A parameter of the function itself, which clang passes by address: one of an
 * inlined function may be in the frame. */
static bool is_by_address(const struct frame_slot *s, Dwarf_Die *function)
{
	Dwarf_Die child;

	if (!s->clang ||
	    dwarf_result_copy(&s->variable->type) != DWARF_COPY_CALLS)
		return false;
	dwarf_die_each(function, &child)
		if (child.addr == s->variable->die.addr)
			return dwarf_tag(&child) == DW_TAG_formal_parameter;
	return false;
}

/*
 * A variable's slot in the frame is described for code in front of the
 * instruction that stores it there, too. A slot that nothing has stored on any
 * way from the function's entry becomes the register that the next store puts
 * there, or absent.
 */
static int slot_settle(const struct compilation *c,
		       const struct compile_site *site,
		       const struct dwarf_variable *variable,
		       const struct block *block, struct place *place,
		       struct error *err)
{
	struct dwarf_context context = {
		.dwarf = c->dwarf, .pc = site->nominal,
	};
	struct frame_slot s = {
		.c = c, .site = site, .variable = variable,
		.arch = c->module->arch, .frame_base = -1, .block = block,
		.width = c->module->elf_class == ELFCLASS64 ? 8 : 4,
	};
	uint64_t first = block->insns->address;
	struct dwarf_scopes scopes;
	const struct flow_part *part;
	const struct flow *flow;
	struct arch_insn insn;
	unsigned int number;
	int code;

	if (!dwarf_scopes_find(c->dwarf, site->nominal, &scopes) &&
	    scopes.count) {
		context.function = scopes.dies[0];
		s.clang = dwarf_scopes_are_clang(&scopes);
		s.by_address = variable->type.addr &&
			       is_by_address(&s, &scopes.dies[0]);
	}
	if (dwarf_frame_base_register(&context, &number))
		s.frame_base = number;
	s.end = dwarf_variable_end(variable, site->nominal, &s.first);
	if (!analysis_flow(c, first, &flow, NULL)) {
		part = flow_part_find(flow, first);
		s.after_call = part &&
			!(part->marks[first - part->start] & FLOW_TARGET) &&
			flow_insn_before(flow, part, first - part->start,
					 &insn) >= 0 &&
			insn.flow == ARCH_FLOW_CALL;
	}
	code = analysis_stores(c, site->nominal,
			       s.frame_base == (int)s.arch->stack ? NULL :
								    block,
			       &s.stores);
	return code ? code : slot_place_settle(&s, place, err);
}

int settle_place(const struct compilation *c, const struct compile_site *site,
		 const struct dwarf_variable *variable, struct place *place,
		 struct error *err)
{
	Dwarf_Die die = variable->die;
	struct block block;
	int code;

	if (!variable->local || !c->module->elf || !place->count)
		return 0;
	code = analysis_block(c, site->nominal, &block);
	if (!code) {
		if (dwarf_tag(&die) == DW_TAG_formal_parameter)
			code = parameter_settle(c, site, variable, &block,
						place);
		if (code != -ENOMEM)
			code = is_absent(place, err) ? -ENODATA :
			       slot_settle(c, site, variable, &block, place,
					   err);
		block_free(&block);
	}
	return code == -ENOENT ? 0 : code;
}

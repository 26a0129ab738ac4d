// SPDX-License-Identifier: GPL-2.0
#include "move_value.h"

#include <stdio.h>
#include "lib/formats/rpn_emit.h"

#define NESTING_MAX	3	/* addresses in memory that lead to a value */

int move_report_text(const struct move *move, const char *text)
{
	snprintf(move->why, MOVE_WHY, "%s", text);
	return 1;
}

int move_report(const struct move *move, const char *before, size_t insn,
		const char *after)
{
	const struct block_insn *at = &move->block->insns[insn];
	char text[MOVE_WHY / 2];

	if (arch_insn_print(move->module->arch, at->bytes, at->insn.length,
			    at->address, text, sizeof(text)))
		snprintf(text, sizeof(text), "an instruction");
	snprintf(move->why, MOVE_WHY, "%s'%s'%s", before, text, after);
	return 1;
}

bool move_effect_find(const struct move *move, size_t index,
		      struct arch_effect *effect)
{
	const struct block_insn *insn = &move->block->insns[index];

	return arch_effect_find(move->module->arch, insn->bytes,
				insn->insn.length, insn->address, effect) &&
	       effect->known;
}

int move_report_register(const struct move *move, unsigned int number)
{
	struct arch_effect effect;
	char name[16], text[64];

	arch_register_print(move->module->arch, number, name, sizeof(name));
	snprintf(text, sizeof(text), " changes %s", name);
	/* the last instruction between that writes it */
	for (size_t i = move->high; i-- > move->low;) {
		if (!move_effect_find(move, i, &effect))
			continue;
		for (size_t t = 0; t < effect.count; t++)
			if (!effect.transfers[t].to_memory &&
			    effect.transfers[t].to == number)
				return move_report(move, "", i, text);
	}
	snprintf(text, sizeof(text), "nothing has the value of %s", name);
	return move_report_text(move, text);
}

static bool base_emit(const struct move *move, unsigned int base, int64_t add,
		      unsigned int need, unsigned int nesting,
		      struct bytes *rpn);

static bool move_low_emit(const struct move *move,
			  const struct state_value *value, int64_t displacement,
			  unsigned int need, unsigned int nesting,
			  struct bytes *rpn)
{
	unsigned int bytes = value->bytes;

	if (need > value->known)
		return false;
	for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
		if (state_is_alike(&move->at_site[i], value) &&
		    move->at_site[i].known >= need) {
			rpn_emit_register(rpn, i, displacement);
			return true;
		}
	if (need <= bytes)
		return base_emit(move, value->base,
				 (uint64_t)value->add + displacement, need,
				 nesting, rpn);
	if (!base_emit(move, value->base, value->add, bytes, nesting, rpn))
		return false;
	rpn_emit_extend(rpn, bytes, value->is_signed);
	rpn_emit_add(rpn, displacement, true);
	return true;
}

bool move_value_emit(const struct move *move, const struct state_value *value,
		     int64_t displacement, unsigned int need, struct bytes *rpn)
{
	size_t size = rpn->size;
	bool had = move_low_emit(move, value, displacement, need, 0, rpn);

	if (!had)
		rpn->size = size;
	return had;
}

static bool register_emit(const struct move *move, unsigned int base,
			  int64_t add, unsigned int need, struct bytes *rpn)
{
	int found = -1;

	for (unsigned int i = 0; i < ARCH_REGISTERS; i++) {
		const struct state_value *value = &move->at_site[i];

		if (value->base == base && value->bytes >= need &&
		    (found < 0 || value->add == add))
			found = i;
	}
	if (found < 0)
		return false;
	rpn_emit_register(rpn, found,
			  (uint64_t)add - move->at_site[found].add);
	return true;
}

/* Can the memory be read, as it was, at the site? The program must not have
 * overwritten it, nor anything else. Of other memory than the stack's a page
 * may be missing at the site that is present after the program's own access,
 * and others may write to it. */
static bool may_read(const struct move *move, const struct state_range *range)
{
	const struct state_value *address = &range->address;
	const struct state_value *stack = &move->at_site[move->state.stack];
	bool on_stack = state_is_stack(&move->state, address);

	return (move->mode == MOVE_FAST || on_stack) &&
	       state_is_linear(&move->state, address) &&
	       (!move->gone || (on_stack && address->base == stack->base &&
				address->add >= stack->add));
}

static bool load_emit(const struct move *move, const struct state_range *range,
		      int64_t add, unsigned int need, unsigned int nesting,
		      struct bytes *rpn)
{
	unsigned int bytes = 1;

	while (bytes < need)
		bytes *= 2;
	if (nesting == NESTING_MAX || bytes > range->bytes ||
	    !may_read(move, range) ||
	    !move_low_emit(move, &range->address, 0, move->state.width,
			   nesting + 1, rpn))
		return false;
	rpn_emit_deref(rpn, bytes);
	rpn_emit_add(rpn, add, true);
	return true;
}

/* A value that was stored in memory, which still has it. */
static bool stored_emit(const struct move *move, unsigned int base, int64_t add,
			unsigned int need, unsigned int nesting,
			struct bytes *rpn)
{
	const struct state *state = &move->state;
	size_t size = rpn->size;

	for (size_t i = state->write_count; i--;) {
		const struct state_write *write = &state->writes[i];
		enum state_relation relation;

		if (write->value.base != base || write->value.bytes < need ||
		    state_write_find(state, &write->to, move->site,
				     &relation) != write)
			continue;
		if (load_emit(move, &write->to,
			      (uint64_t)add - write->value.add, need, nesting,
			      rpn))
			return true;
		rpn->size = size;
	}
	return false;
}

/* The low `need` bytes of base + add. The thread's base is taken from where the
 * program has it: the kernel's copy may be older. */
static bool base_emit(const struct move *move, unsigned int base, int64_t add,
		      unsigned int need, unsigned int nesting,
		      struct bytes *rpn)
{
	const struct state_other *other;
	enum state_relation relation;
	size_t size = rpn->size;

	switch (base) {
	case STATE_NONE:
		return false;
	case STATE_NUMBER:
		rpn_emit_const(rpn, add);
		return true;
	case STATE_FIXED:
		rpn_emit_addr(rpn, add);
		return true;
	}
	if (register_emit(move, base, add, need, rpn) ||
	    stored_emit(move, base, add, need, nesting, rpn))
		return true;
	rpn->size = size;
	if (base < STATE_OTHERS)
		return false;
	/* what memory had at the beginning, and still has */
	other = &move->state.others[base - STATE_OTHERS];
	return other->is_memory &&
	       !state_write_find(&move->state, &other->memory, move->site,
				 &relation) &&
	       load_emit(move, &other->memory, add, need, nesting, rpn);
}

/* The memory has at the site what it has at the nominal address. */
static bool is_unchanged(const struct move *move,
			 const struct move_entry *entry,
			 const struct state_range *range)
{
	const struct state_value *stack = &move->at_site[move->state.stack];
	const struct state_value *address = &range->address;
	bool outside = entry->outside;
	enum state_relation relation;
	const struct state_write *write =
		state_write_find(&move->state, range, move->high, &relation);

	if (write && write->at >= move->low)
		return !move_report(move, "", write->at,
				    " may change what is read");
	if (address->base == stack->base &&
	    state_is_linear(&move->state, address))
		outside = address->add >= stack->add;
	return !move->gone || outside ||
	       !move_report(move, "the frame is gone after ", move->high - 1,
			    "");
}

int move_memory_find(const struct move *move, const struct move_entry *entry,
		     unsigned int bytes, struct state_value *value,
		     unsigned int *from)
{
	struct state_range range = {
		.address = entry->value, .clean = entry->clean, .bytes = bytes,
	};
	const struct state_write *write;
	enum state_relation relation;

	if (!state_is_linear(&move->state, &range.address))
		range.address.base = STATE_NONE;
	if (is_unchanged(move, entry, &range))
		return 0;
	write = state_write_find(&move->state, &range, move->nominal,
				 &relation);
	if (!write || relation != STATE_INSIDE)
		return -1;
	*from = range.address.add - write->to.address.add;
	*value = write->value;
	return 1;
}

bool move_memory_emit(const struct move *move, const struct state_value *value,
		      unsigned int from, unsigned int bytes, unsigned int need,
		      struct bytes *rpn)
{
	unsigned int known = need < bytes ? need : bytes;
	struct state_value part;

	if (!from &&
	    state_extend(value, 0, bytes, false, &part) &&
	    part.known >= need)
		return move_value_emit(move, &part, 0, need, rpn);
	if (from + known > 8 ||
	    !move_value_emit(move, value, 0, from + known, rpn))
		return false;
	if (from) {
		rpn_emit_const(rpn, 8 * from);
		rpn_emit_op(rpn, RPN_shr);
	}
	if (need > bytes)
		rpn_emit_extend(rpn, bytes, false);
	return true;
}

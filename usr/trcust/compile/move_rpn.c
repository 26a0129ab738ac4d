// SPDX-License-Identifier: GPL-2.0
#include "move_rpn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <rastrace/tdf.h>
#include "lib/formats/rpn.h"

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
		      unsigned int need, unsigned int nesting);

static bool move_low_emit(const struct move *move,
			  const struct state_value *value, int64_t displacement,
			  unsigned int need, unsigned int nesting)
{
	unsigned int bytes = value->bytes;

	if (need > value->known)
		return false;
	for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
		if (state_is_alike(&move->at_site[i], value) &&
		    move->at_site[i].known >= need) {
			rpn_emit_register(move->rpn, i, displacement);
			return true;
		}
	if (need <= bytes)
		return base_emit(move, value->base,
				 (uint64_t)value->add + displacement, need,
				 nesting);
	if (!base_emit(move, value->base, value->add, bytes, nesting))
		return false;
	rpn_emit_extend(move->rpn, bytes, value->is_signed);
	rpn_emit_add(move->rpn, displacement, true);
	return true;
}

/* Appends what has the low `need` bytes of value + displacement. False: it is
 * not available at the site; rpn is as it was. */
static bool move_value_emit(const struct move *move,
			    const struct state_value *value,
			    int64_t displacement, unsigned int need)
{
	size_t size = move->rpn->size;
	bool had = move_low_emit(move, value, displacement, need, 0);

	if (!had)
		move->rpn->size = size;
	return had;
}

static bool register_emit(const struct move *move, unsigned int base,
			  int64_t add, unsigned int need)
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
	rpn_emit_register(move->rpn, found,
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
		      int64_t add, unsigned int need, unsigned int nesting)
{
	unsigned int bytes = 1;

	while (bytes < need)
		bytes *= 2;
	if (nesting == NESTING_MAX || bytes > range->bytes ||
	    !may_read(move, range) ||
	    !move_low_emit(move, &range->address, 0, move->state.width,
			   nesting + 1))
		return false;
	rpn_emit_deref(move->rpn, bytes);
	rpn_emit_add(move->rpn, add, true);
	return true;
}

/* A value that was stored in memory, which still has it. */
static bool stored_emit(const struct move *move, unsigned int base, int64_t add,
			unsigned int need, unsigned int nesting)
{
	const struct state *state = &move->state;
	size_t size = move->rpn->size;

	for (size_t i = state->write_count; i--;) {
		const struct state_write *write = &state->writes[i];
		enum state_relation relation;

		if (write->value.base != base || write->value.bytes < need ||
		    state_write_find(state, &write->to, move->site,
				     &relation) != write)
			continue;
		if (load_emit(move, &write->to,
			      (uint64_t)add - write->value.add, need, nesting))
			return true;
		move->rpn->size = size;
	}
	return false;
}

/* The low `need` bytes of base + add. The thread's base is taken from where the
 * program has it: the kernel's copy may be older. */
static bool base_emit(const struct move *move, unsigned int base, int64_t add,
		      unsigned int need, unsigned int nesting)
{
	const struct state_other *other;
	enum state_relation relation;
	size_t size = move->rpn->size;

	switch (base) {
	case STATE_NONE:
		return false;
	case STATE_NUMBER:
		rpn_emit_const(move->rpn, add);
		return true;
	case STATE_FIXED:
		rpn_emit_addr(move->rpn, add);
		return true;
	}
	if (register_emit(move, base, add, need) ||
	    stored_emit(move, base, add, need, nesting))
		return true;
	move->rpn->size = size;
	if (base < STATE_OTHERS)
		return false;
	/* what memory had at the beginning, and still has */
	other = &move->state.others[base - STATE_OTHERS];
	return other->is_memory &&
	       !state_write_find(&move->state, &other->memory, move->site,
				 &relation) &&
	       load_emit(move, &other->memory, add, need, nesting);
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
		      unsigned int from, unsigned int bytes, unsigned int need)
{
	unsigned int known = need < bytes ? need : bytes;
	struct state_value part;

	if (!from && state_extend(value, 0, bytes, false, &part) &&
	    part.known >= need)
		return move_value_emit(move, &part, 0, need);
	if (from + known > 8 || !move_value_emit(move, value, 0, from + known))
		return false;
	if (from) {
		rpn_emit_const(move->rpn, 8 * from);
		rpn_emit_op(move->rpn, RPN_shr);
	}
	if (need > bytes)
		rpn_emit_extend(move->rpn, bytes, false);
	return true;
}

/*
 * Rewrites expressions of the nominal address for the site, operation by
 * operation. The values are followed alongside, so that it is known what their
 * addresses point to.
 */

#define NOWHERE		SIZE_MAX
#define JUMPS_MAX	64

/*
 * How many low bytes of each value in an expression matter to what it comes
 * to: of an int in a 64-bit register four do.
 */
struct move_need {
	struct rpn_op op;
	unsigned int need;	/* of what the operation pushes: 1 to 8 */
	/* while they are found */
	uint32_t arguments[2];	/* the operations whose values it takes */
	unsigned int count;
};

/* Numbers of the operations that pushed what is there. */
struct need_stack {
	uint32_t at[TDF_RPN_STACK];
	int count;
};

struct need_jump {
	size_t target;
	struct need_stack stack;
};

struct need_finder {
	struct move_need *ops;
	unsigned int width;
	struct need_stack stack;
	bool dead;
	struct need_jump *jumps;
	size_t jump_count;
};

static void want(struct move_need *op, unsigned int need)
{
	if (need > op->need)
		op->need = need > 8 ? 8 : need;
}

/* Where branches part or join, all of everything is taken to be needed. */
static void want_all(struct need_finder *f)
{
	for (int i = 0; i < f->stack.count; i++)
		want(&f->ops[f->stack.at[i]], 8);
}

static void need_land(struct need_finder *f, size_t at)
{
	for (size_t i = 0; i < f->jump_count; i++) {
		if (f->jumps[i].target != at)
			continue;
		want_all(f);
		if (f->dead)
			f->stack = f->jumps[i].stack;
		f->dead = false;
	}
}

/* What the operation does to the stack. */
static void need_step(struct need_finder *f, uint32_t index)
{
	struct move_need *op = &f->ops[index];
	struct need_stack *stack = &f->stack;
	uint32_t *end = stack->at + stack->count, top;

	switch (op->op.code) {
	case RPN_dup:
	case RPN_over:
	case RPN_pick:
		*end = op->op.code == RPN_dup ? end[-1] :
		       op->op.code == RPN_over ? end[-2] :
						 end[-1 - (int)op->op.a];
		stack->count++;
		return;
	case RPN_drop:
		stack->count--;
		return;
	case RPN_swap:
		top = end[-1];
		end[-1] = end[-2];
		end[-2] = top;
		return;
	case RPN_rot:	/* the first becomes third */
		top = end[-1];
		end[-1] = end[-2];
		end[-2] = end[-3];
		end[-3] = top;
		return;
	case RPN_bra:
	case RPN_skip:
		want_all(f);
		if (op->op.code == RPN_bra)
			stack->count--;
		f->jumps[f->jump_count++] = (struct need_jump) {
			.target = op->op.a, .stack = *stack,
		};
		f->dead = op->op.code == RPN_skip;
		return;
	}
	op->count = op->op.pops;
	for (unsigned int i = op->count; i--;)
		op->arguments[i] = stack->at[--stack->count];
	if (op->op.pushes)
		stack->at[stack->count++] = index;
}

static void want_arguments(struct need_finder *f, const struct move_need *op)
{
	struct move_need *last;
	unsigned int need = 8;
	int64_t number;

	if (!op->count)
		return;
	last = &f->ops[op->arguments[op->count - 1]];
	switch (op->op.code) {
	case RPN_plus:
	case RPN_minus:
	case RPN_mul:
	case RPN_or:
	case RPN_xor:
	case RPN_neg:
	case RPN_not:
	case RPN_plus_uconst:
		need = op->need;
		break;
	case RPN_deref:
	case RPN_deref_size:
		need = f->width;
		break;
	case RPN_and:
		/* no more than the bytes of a mask */
		for (int i = 0; i < 2; i++) {
			need = op->need;
			if (rpn_is_constant(&f->ops[op->arguments[!i]].op,
					  &number))
				while (need && !((uint64_t)number >>
						 8 * (need - 1)))
					need--;
			want(&f->ops[op->arguments[i]], need);
		}
		return;
	case RPN_shl:
	case RPN_shr:
	case RPN_shra:
		if (rpn_is_constant(&last->op, &number) &&
		    (uint64_t)number < 64) {
			if (op->op.code != RPN_shl)
				need = op->need + (number + 7) / 8;
			else
				need = op->need > number / 8 ?
				       op->need - number / 8 : 1;
		}
		want(&f->ops[op->arguments[0]], need);
		want(last, 8);
		return;
	}
	for (unsigned int i = 0; i < op->count; i++)
		want(&f->ops[op->arguments[i]], need);
}

static struct move_need *decode_all(const uint8_t *rpn, size_t size,
				    size_t *count, size_t *jumps)
{
	struct move_need *ops = calloc(size + 1, sizeof(*ops));
	struct rpn_op op = {0};

	*count = *jumps = 0;
	while (ops && rpn_next(rpn, size, &op)) {
		*jumps += op.operand == RPN_JUMP;
		ops[(*count)++].op = op;
	}
	return ops;
}

/*
 * The operations of an expression that rpn_check() accepts, malloc'd; NULL: no
 * memory. `need`: of what it leaves on top. `width`: bytes of an address.
 */
static struct move_need *move_need_find(const uint8_t *rpn, size_t size,
					unsigned int need, unsigned int width,
					size_t *count, size_t *jumps)
{
	struct need_finder f = { .width = width };

	f.ops = decode_all(rpn, size, count, jumps);
	f.jumps = calloc(*jumps + 1, sizeof(*f.jumps));
	if (!f.ops || !f.jumps) {
		free(f.ops);
		free(f.jumps);
		return NULL;
	}
	for (uint32_t i = 0; i < *count; i++) {
		need_land(&f, f.ops[i].op.at);
		if (!f.dead)
			need_step(&f, i);
	}
	need_land(&f, size);
	for (int i = 0; i < f.stack.count; i++)
		want(&f.ops[f.stack.at[i]], i == f.stack.count - 1 ? need : 8);
	for (size_t i = *count; i--;) {
		want(&f.ops[i], 1);
		want_arguments(&f, &f.ops[i]);
	}
	free(f.jumps);
	return f.ops;
}

struct rpn_entries {
	struct move_entry at[TDF_RPN_STACK];
	int count;
};

/* A jump whose target is still to come. */
struct rpn_jump {
	size_t target;		/* in the input */
	size_t operand;		/* of its distance, in the output */
	struct rpn_entries entries;
};

struct rewriting {
	const struct move *move;
	const uint8_t *in;
	struct bytes *rpn;
	struct rpn_entries entries;
	bool dead;		/* after a skip */
	struct rpn_jump *jumps;
	size_t jump_count;
	bool failed;		/* move->why is set */
};

static struct move_entry entry_of(unsigned int base, uint64_t add)
{
	return (struct move_entry) {
		.value = { .base = base, .add = add, .bytes = 8, .known = 8 },
		.clean = true, .outside = true, .missing = -1,
		.start = NOWHERE,
	};
}

/* All that may be gone at the site is known not to be led to by what is
 * clean. */
static bool is_own_stack(const struct move *move)
{
	return move->state.fresh &&
	       move->at_site[move->state.stack].base == move->state.stack;
}

/* Static variables, and what is returned, aren't in the frame of the function
 * that returns; nor is what was known before it had one. */
static bool is_outside(const struct move *move, const struct state_value *value)
{
	const unsigned int *results = move->module->arch->results;

	if (value->base == STATE_FIXED || value->base == STATE_THREAD ||
	    value->base == STATE_NUMBER)
		return true;
	if (is_own_stack(move))
		return state_is_clean(&move->state, value->base);
	if (state_is_stack(&move->state, value) ||
	    !state_is_linear(&move->state, value))
		return false;
	return move->at_site[results[0]].base == value->base ||
	       move->at_site[results[1]].base == value->base;
}

static void value_shift(const struct move *move, struct state_value *value,
			int64_t distance)
{
	if (state_is_linear(&move->state, value))
		value->add += distance;
	else if (distance)
		value->base = STATE_NONE;
}

static void entry_push(struct rewriting *r, struct move_entry entry,
		       size_t start)
{
	entry.start = start;
	entry.end = r->rpn->size;
	r->entries.at[r->entries.count++] = entry;
}

static struct move_entry entry_pop(struct rewriting *r)
{
	return r->entries.at[--r->entries.count];
}

static void emit_same(struct rewriting *r, const struct rpn_op *op)
{
	bytes_add(r->rpn, r->in + op->at, op->next - op->at);
}

/* What a register has at the nominal address, plus displacement. When it is not
 * available a 0 is pushed; whether it is needed is seen later. */
static void do_register(struct rewriting *r, unsigned int number,
			int64_t displacement, const struct rpn_op *op,
			unsigned int need)
{
	const struct move *move = r->move;
	const struct arch *arch = move->module->arch;
	struct move_entry entry = entry_of(STATE_NONE, 0);
	size_t start = r->rpn->size;

	if (number == arch->ip) {
		uint64_t ip = move->block->insns[move->nominal].address +
			      displacement;

		rpn_emit_addr(r->rpn, ip);
		entry_push(r, entry_of(STATE_FIXED, ip), start);
		return;
	}
	if (number == arch->flags) {
		if (move->flags != SIZE_MAX)
			r->failed = move_report(move, "", move->flags,
						" changes the flags");
		emit_same(r, op);
		entry_push(r, entry, start);
		return;
	}
	if (move->wide && number == arch->thread)
		entry = entry_of(STATE_THREAD, 0);
	else if (number < ARCH_REGISTERS)
		entry.value = move->at_nominal[number];
	if (number < ARCH_REGISTERS || entry.value.base == STATE_THREAD) {
		entry.clean = state_is_clean(&move->state, entry.value.base);
		entry.outside = is_outside(move, &entry.value);
		value_shift(move, &entry.value, displacement);
	}
	if (number >= ARCH_REGISTERS) {
		emit_same(r, op);
	} else if (!move_value_emit(move, &move->at_nominal[number],
				    displacement, need)) {
		entry.missing = number;
		rpn_emit_const(r->rpn, 0);
	}
	entry_push(r, entry, start);
}

/* Memory or a general register that has the value; else the register itself, if
 * it is unchanged. Of the high half nothing is known. */
static void do_vector(struct rewriting *r, const struct rpn_op *op,
		      unsigned int need)
{
	const struct move *move = r->move;
	unsigned int number = op->a - move->module->arch->vector_first;
	const struct state_value *value = &move->vectors_nominal[number];
	size_t start = r->rpn->size;

	if (op->b || number >= ARCH_VECTORS)
		r->failed = move_report_text(move, "it is in a part of a "
					     "vector register that is not "
					     "followed");
	else if (!move_value_emit(move, value, 0, need) &&
		 !state_is_alike(value, &move->vectors_site[number]))
		r->failed = move_report_text(move, "nothing else has the value "
					     "of the vector register");
	if (r->rpn->size == start)
		emit_same(r, op);
	entry_push(r, entry_of(STATE_NONE, 0), start);
}

static void check_missing(struct rewriting *r, const struct move_entry *entry)
{
	if (entry->missing < 0 || r->failed)
		return;
	r->failed = move_report_register(r->move, entry->missing);
}

static void do_deref(struct rewriting *r, unsigned int bytes,
		     const struct rpn_op *op, unsigned int need)
{
	struct move_entry address = entry_pop(r);
	struct move_entry entry = entry_of(STATE_NONE, 0);
	size_t start = address.end == r->rpn->size ? address.start : NOWHERE;
	struct state_value value;
	unsigned int from;
	int found = move_memory_find(r->move, &address, bytes, &value, &from);

	entry.clean = r->move->state.escaped >= r->move->nominal &&
		      state_leads_clean(&r->move->state, &address.value,
					address.clean);
	entry.outside = !is_own_stack(r->move) || entry.clean;
	if (found < 0) {
		r->failed = true;
	} else if (!found) {
		check_missing(r, &address);
		emit_same(r, op);
	} else {
		/* the output without the address */
		if (start != NOWHERE)
			r->rpn->size = start;
		else
			rpn_emit_op(r->rpn, RPN_drop);
		if (!move_memory_emit(r->move, &value, from, bytes, need))
			r->failed = true;
		if (!from && state_extend(&value, 0, bytes, false,
					  &entry.value)) {
			entry.clean = state_is_clean(&r->move->state,
						     entry.value.base);
			entry.outside = is_outside(r->move, &entry.value);
		}
	}
	entry_push(r, entry, start);
}

/* The memory isn't known: no write at all may be between. */
static void do_unknown(struct rewriting *r, const struct rpn_op *op)
{
	struct move_entry entry = entry_of(STATE_NONE, 0);
	struct state_value value;
	unsigned int from;

	for (unsigned int i = 0; i < op->pops; i++) {
		struct move_entry used = entry_pop(r);

		check_missing(r, &used);
	}
	entry.clean = false;
	entry.outside = false;
	if (move_memory_find(r->move, &entry, 0, &value, &from))
		r->failed = true;
	emit_same(r, op);
	entry_push(r, entry, NOWHERE);
}

static void do_binary(struct rewriting *r, const struct rpn_op *op)
{
	struct move_entry b = entry_pop(r), a = entry_pop(r);
	struct move_entry out = entry_of(STATE_NONE, 0);
	bool together = a.end == b.start && b.end == r->rpn->size;
	bool number = b.value.base == STATE_NUMBER;

	if (op->code == RPN_plus && a.value.base == STATE_NUMBER) {
		out.value = b.value;
		value_shift(r->move, &out.value, a.value.add);
	} else if ((op->code == RPN_plus || op->code == RPN_minus) && number) {
		out.value = a.value;
		value_shift(r->move, &out.value, op->code == RPN_plus ?
			    b.value.add : -b.value.add);
	} else if (op->code == RPN_and && !r->move->wide && number &&
		   b.value.add == UINT32_MAX) {
		out.value = a.value;	/* the mask leaves all of an address */
	}
	out.clean = a.clean && b.clean;
	out.outside = a.outside && b.outside;
	out.missing = a.missing >= 0 ? a.missing : b.missing;
	emit_same(r, op);
	entry_push(r, out, together ? a.start : NOWHERE);
}

static void do_unary(struct rewriting *r, const struct rpn_op *op)
{
	struct move_entry a = entry_pop(r), out = a;
	bool together = a.end == r->rpn->size;

	if (op->code == RPN_plus_uconst)
		value_shift(r->move, &out.value, op->a);
	else
		out.value.base = STATE_NONE;
	emit_same(r, op);
	entry_push(r, out, together ? a.start : NOWHERE);
}

static void do_copy(struct rewriting *r, const struct rpn_op *op,
		    unsigned int depth)
{
	struct move_entry entry = r->entries.at[r->entries.count - 1 - depth];
	size_t start = r->rpn->size;

	emit_same(r, op);
	entry_push(r, entry, start);
}

/* swap, rot, drop: what is left isn't where it was pushed. */
static void do_order(struct rewriting *r, const struct rpn_op *op)
{
	struct move_entry a = entry_pop(r), b, c;

	emit_same(r, op);
	if (op->code == RPN_drop)
		return;
	b = entry_pop(r);
	if (op->code == RPN_rot) {
		c = entry_pop(r);
		entry_push(r, a, NOWHERE);
		entry_push(r, c, NOWHERE);
	} else {
		entry_push(r, a, NOWHERE);
	}
	entry_push(r, b, NOWHERE);
}

static void forget_starts(struct rpn_entries *entries)
{
	for (int i = 0; i < entries->count; i++)
		entries->at[i].start = NOWHERE;
}

static void do_jump(struct rewriting *r, const struct rpn_op *op)
{
	struct rpn_jump *jump = &r->jumps[r->jump_count++];

	if (op->code == RPN_bra) {
		struct move_entry condition = entry_pop(r);

		check_missing(r, &condition);
	}
	emit_same(r, op);
	jump->target = op->a;
	jump->operand = r->rpn->size - 2;
	jump->entries = r->entries;
	r->dead = op->code == RPN_skip;
	forget_starts(&r->entries);
}

static void entries_join(const struct state *state, struct rpn_entries *to,
			 const struct rpn_entries *from)
{
	for (int i = 0; i < to->count && i < from->count; i++) {
		struct move_entry *a = &to->at[i];
		const struct move_entry *b = &from->at[i];

		if (!state_is_same(state, &a->value, &b->value))
			a->value.base = STATE_NONE;
		a->clean &= b->clean;
		a->outside &= b->outside;
		if (a->missing < 0)
			a->missing = b->missing;
	}
}

/* Jumps that lead to offset `at` of the input. */
static void rewriting_land(struct rewriting *r, size_t at)
{
	for (size_t i = 0; i < r->jump_count; i++) {
		struct rpn_jump *jump = &r->jumps[i];
		size_t distance = r->rpn->size - jump->operand - 2;

		if (jump->target != at || r->rpn->failed)
			continue;
		r->rpn->data[jump->operand] = distance;
		r->rpn->data[jump->operand + 1] = distance >> 8;
		if (r->dead)
			r->entries = jump->entries;
		else
			entries_join(&r->move->state, &r->entries,
				     &jump->entries);
		r->dead = false;
		forget_starts(&r->entries);
	}
}

static void do_op(struct rewriting *r, const struct rpn_op *op,
		  unsigned int need)
{
	size_t start = r->rpn->size;
	int64_t number, offset;
	uint64_t reg;

	if (rpn_is_register(op, &reg, &offset)) {
		do_register(r, reg, offset, op, need);
		return;
	}
	if (rpn_is_constant(op, &number)) {
		emit_same(r, op);
		entry_push(r, entry_of(STATE_NUMBER, number), start);
		return;
	}
	switch (op->code) {
	case RPN_addr:
		emit_same(r, op);
		entry_push(r, entry_of(STATE_FIXED, op->a), start);
		break;
	case RPN_deref:
		do_deref(r, 8, op, need);
		break;
	case RPN_deref_size:
		do_deref(r, op->a, op, need);
		break;
	case RPN_xderef:
	case RPN_xderef_size:
	case RPN_tree_next:
	case RPN_kept:
		do_unknown(r, op);
		break;
	case RPN_dup:
		do_copy(r, op, 0);
		break;
	case RPN_over:
		do_copy(r, op, 1);
		break;
	case RPN_pick:
		do_copy(r, op, op->a);
		break;
	case RPN_drop:
	case RPN_swap:
	case RPN_rot:
		do_order(r, op);
		break;
	case RPN_bra:
	case RPN_skip:
		do_jump(r, op);
		break;
	case RPN_nop:
		break;
	case RPN_vector:
		do_vector(r, op, need);
		break;
	case RPN_entry_value:
	case RPN_elapsed:
	case RPN_cputime:
	case RPN_at_entry:
		emit_same(r, op);
		entry_push(r, entry_of(STATE_NONE, 0), NOWHERE);
		break;
	default:
		if (op->pops == 1)
			do_unary(r, op);
		else
			do_binary(r, op);
	}
}

/* 0, 1, -ENOMEM. */
static int rewrite(struct rewriting *r, const struct move_need *needs,
		   size_t count, size_t size, bool far,
		   struct move_entry *entry)
{
	const struct bytes *rpn = r->rpn;
	size_t start = rpn->size;

	for (size_t i = 0; i < count && !r->failed && !rpn->failed; i++) {
		rewriting_land(r, needs[i].op.at);
		if (!r->dead)
			do_op(r, &needs[i].op, needs[i].need);
	}
	if (!r->failed && !rpn->failed)
		rewriting_land(r, size);
	if (rpn->failed)
		return -ENOMEM;
	for (int i = 0; i + 1 < r->entries.count; i++)
		check_missing(r, &r->entries.at[i]);
	if (r->failed)
		return 1;
	if (rpn_check(rpn->data + start, rpn->size - start, far ? 2 : 1, NULL))
		return move_report_text(r->move,
					"its expression gets too long");
	*entry = r->entries.at[r->entries.count - 1];
	return 0;
}

int move_rpn(const struct move *move, const uint8_t *bytes, size_t size,
	     bool far, unsigned int need, struct move_entry *entry)
{
	struct rewriting r = { .move = move, .in = bytes, .rpn = move->rpn };
	struct move_need *needs;
	int code = -ENOMEM;
	size_t count, jumps;

	if (rpn_check(bytes, size, far ? 2 : 1, NULL))
		return move_report_text(move, "its expression is damaged");
	needs = move_need_find(bytes, size, need, move->state.width, &count,
			       &jumps);
	r.jumps = calloc(JUMPS_MAX, sizeof(*r.jumps));
	if (needs && jumps > JUMPS_MAX)
		code = move_report_text(move, "its expression has too many "
					      "branches");
	else if (needs && r.jumps)
		code = rewrite(&r, needs, count, size, far, entry);
	free(needs);
	free(r.jumps);
	return code;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Expressions of the nominal address as those of the site, operation by
 * operation: what they come to is followed beside, so that it is known what
 * their addresses lead to.
 */
#include "move_rpn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/formats/rpn_emit.h"
#include "move_need.h"

#define NOWHERE		SIZE_MAX
#define JUMPS_MAX	64

struct entries {
	struct move_entry at[TDF_RPN_STACK];
	int count;
};

/* A jump whose target is still to come. */
struct jump {
	size_t target;		/* in the input */
	size_t operand;		/* in the output: where its distance stands */
	struct entries entries;
};

struct rewriting {
	const struct move *move;
	const uint8_t *in;
	struct bytes *rpn;
	struct entries entries;
	bool dead;		/* behind a skip */
	struct jump *jumps;
	size_t jump_count;
	bool failed;		/* move->why tells */
};

static struct move_entry entry_unknown(void)
{
	return (struct move_entry) {
		.value = { .base = STATE_NONE, .bytes = 8, .known = 8 },
		.clean = true, .outside = true, .missing = -1,
		.start = NOWHERE,
	};
}

static struct move_entry entry_number(uint64_t number)
{
	struct move_entry entry = entry_unknown();

	entry.value.base = STATE_NUMBER;
	entry.value.add = number;
	return entry;
}

static struct move_entry entry_fixed(uint64_t address)
{
	struct move_entry entry = entry_unknown();

	entry.value.base = STATE_FIXED;
	entry.value.add = address;
	return entry;
}

/* All that may be gone at the site is known not to be led to by what is clean.
 */
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

static void shift(const struct move *move, struct state_value *value,
		  int64_t distance)
{
	if (state_is_linear(&move->state, value))
		value->add += distance;
	else if (distance)
		value->base = STATE_NONE;
}

/* What a register has at the nominal address, plus displacement. */
static struct move_entry entry_register(const struct move *move,
					unsigned int number,
					int64_t displacement)
{
	const struct arch *arch = move->module->arch;
	struct move_entry entry = entry_unknown();

	if (move->wide && number == arch->thread)
		entry.value.base = STATE_THREAD;
	else if (number < ARCH_REGISTERS)
		entry.value = move->at_nominal[number];
	else
		return entry;
	entry.clean = state_is_clean(&move->state, entry.value.base);
	entry.outside = is_outside(move, &entry.value);
	shift(move, &entry.value, displacement);
	return entry;
}

static void push(struct rewriting *r, struct move_entry entry, size_t start)
{
	entry.start = start;
	entry.end = r->rpn->size;
	r->entries.at[r->entries.count++] = entry;
}

static struct move_entry pop(struct rewriting *r)
{
	return r->entries.at[--r->entries.count];
}

static void emit_same(struct rewriting *r, const struct rpn_op *op)
{
	bytes_add(r->rpn, r->in + op->at, op->next - op->at);
}

/* Without the register there is something in its place; whether it is needed
 * is seen later. */
static void do_register(struct rewriting *r, unsigned int number,
			int64_t displacement, const struct rpn_op *op,
			unsigned int need)
{
	const struct move *move = r->move;
	const struct arch *arch = move->module->arch;
	size_t start = r->rpn->size;
	struct move_entry entry;

	if (number == arch->ip) {
		uint64_t ip = move->block->insns[move->nominal].address +
			      displacement;

		rpn_emit_addr(r->rpn, ip);
		push(r, entry_fixed(ip), start);
		return;
	}
	if (number == arch->flags) {
		if (move->flags != SIZE_MAX) {
			move_report(move, "", move->flags,
				    " changes the flags");
			r->failed = true;
		}
		emit_same(r, op);
		push(r, entry_unknown(), start);
		return;
	}
	entry = entry_register(move, number, displacement);
	if (number >= ARCH_REGISTERS) {
		emit_same(r, op);
	} else if (!move_value_emit(move, &move->at_nominal[number],
				    displacement, need, r->rpn)) {
		entry.missing = number;
		rpn_emit_const(r->rpn, 0);
	}
	push(r, entry, start);
}

static void check_missing(struct rewriting *r, const struct move_entry *entry)
{
	if (entry->missing < 0 || r->failed)
		return;
	move_report_register(r->move, entry->missing);
	r->failed = true;
}

/* The output is again what it was without the entry. */
static void undo(struct rewriting *r, const struct move_entry *entry)
{
	if (entry->start != NOWHERE && entry->end == r->rpn->size)
		r->rpn->size = entry->start;
	else
		rpn_emit_op(r->rpn, RPN_drop);
}

static void do_deref(struct rewriting *r, unsigned int bytes,
		     const struct rpn_op *op, unsigned int need)
{
	struct move_entry address = pop(r), entry = entry_unknown();
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
		undo(r, &address);
		if (!move_memory_emit(r->move, &value, from, bytes, need,
				      r->rpn))
			r->failed = true;
		if (!from && state_extend(&value, 0, bytes, false,
					  &entry.value)) {
			entry.clean = state_is_clean(&r->move->state,
						     entry.value.base);
			entry.outside = is_outside(r->move, &entry.value);
		}
	}
	push(r, entry, start);
}

/* The memory isn't known: no write at all may be between. */
static void do_far(struct rewriting *r, const struct rpn_op *op)
{
	struct move_entry offset = pop(r), selector = pop(r);
	struct move_entry entry = entry_unknown();
	struct state_value value;
	unsigned int from;

	check_missing(r, &offset);
	check_missing(r, &selector);
	entry.clean = false;
	entry.outside = false;
	if (move_memory_find(r->move, &entry, 0, &value, &from))
		r->failed = true;
	emit_same(r, op);
	push(r, entry, NOWHERE);
}

static struct move_entry sum(const struct move *move,
			     const struct move_entry *a, int64_t sign,
			     const struct move_entry *b)
{
	struct move_entry out = *a;

	if (b->value.base == STATE_NUMBER)
		shift(move, &out.value, sign * b->value.add);
	else
		out.value.base = STATE_NONE;
	return out;
}

/* A mask that leaves all of an address. */
static bool is_mask(const struct rewriting *r, const struct move_entry *entry)
{
	return !r->move->wide && entry->value.base == STATE_NUMBER &&
	       entry->value.add == UINT32_MAX;
}

static struct move_entry combine(const struct rewriting *r, unsigned int code,
				 const struct move_entry *a,
				 const struct move_entry *b)
{
	struct move_entry out = entry_unknown();

	if (code == RPN_plus && a->value.base == STATE_NUMBER)
		out = sum(r->move, b, 1, a);
	else if (code == RPN_plus || code == RPN_minus)
		out = sum(r->move, a, code == RPN_plus ? 1 : -1, b);
	else if (code == RPN_and && is_mask(r, b))
		out = *a;
	out.clean = a->clean && b->clean;
	out.outside = a->outside && b->outside;
	out.missing = a->missing >= 0 ? a->missing : b->missing;
	return out;
}

static void do_binary(struct rewriting *r, const struct rpn_op *op)
{
	struct move_entry b = pop(r), a = pop(r);
	bool together = a.end == b.start && b.end == r->rpn->size;

	emit_same(r, op);
	push(r, combine(r, op->code, &a, &b), together ? a.start : NOWHERE);
}

static void do_unary(struct rewriting *r, const struct rpn_op *op)
{
	struct move_entry a = pop(r), out = a;
	bool together = a.end == r->rpn->size;

	if (op->code == RPN_plus_uconst)
		shift(r->move, &out.value, op->a);
	else
		out.value.base = STATE_NONE;
	emit_same(r, op);
	push(r, out, together ? a.start : NOWHERE);
}

static void do_copy(struct rewriting *r, const struct rpn_op *op,
		    unsigned int depth)
{
	struct move_entry entry = r->entries.at[r->entries.count - 1 - depth];
	size_t start = r->rpn->size;

	emit_same(r, op);
	push(r, entry, start);
}

/* swap, rot, drop: what is left isn't where it was pushed. */
static void do_order(struct rewriting *r, const struct rpn_op *op)
{
	struct move_entry a = pop(r), b, c;

	emit_same(r, op);
	if (op->code == RPN_drop)
		return;
	b = pop(r);
	if (op->code == RPN_rot) {
		c = pop(r);
		push(r, a, NOWHERE);
		push(r, c, NOWHERE);
	} else {
		push(r, a, NOWHERE);
	}
	push(r, b, NOWHERE);
}

static void forget_starts(struct entries *entries)
{
	for (int i = 0; i < entries->count; i++)
		entries->at[i].start = NOWHERE;
}

static void do_jump(struct rewriting *r, const struct rpn_op *op)
{
	struct jump *jump = &r->jumps[r->jump_count++];

	if (op->code == RPN_bra) {
		struct move_entry condition = pop(r);

		check_missing(r, &condition);
	}
	emit_same(r, op);
	jump->target = op->a;
	jump->operand = r->rpn->size - 2;
	jump->entries = r->entries;
	r->dead = op->code == RPN_skip;
	forget_starts(&r->entries);
}

static void join(const struct state *state, struct entries *to,
		 const struct entries *from)
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
static void land(struct rewriting *r, size_t at)
{
	for (size_t i = 0; i < r->jump_count; i++) {
		struct jump *jump = &r->jumps[i];
		size_t distance = r->rpn->size - jump->operand - 2;

		if (jump->target != at || r->rpn->failed)
			continue;
		r->rpn->data[jump->operand] = distance;
		r->rpn->data[jump->operand + 1] = distance >> 8;
		if (r->dead)
			r->entries = jump->entries;
		else
			join(&r->move->state, &r->entries, &jump->entries);
		r->dead = false;
		forget_starts(&r->entries);
	}
}

static void do_op(struct rewriting *r, const struct rpn_op *op,
		  unsigned int need)
{
	uint64_t number;
	int64_t value;

	if (rpn_is_register(op, &number, &value)) {
		do_register(r, number, value, op, need);
		return;
	}
	if (rpn_is_constant(op, &value) || op->code == RPN_addr) {
		size_t start = r->rpn->size;

		emit_same(r, op);
		push(r, op->code == RPN_addr ? entry_fixed(op->a) :
			entry_number(value), start);
		return;
	}
	switch (op->code) {
	case RPN_deref:
		do_deref(r, 8, op, need);
		break;
	case RPN_deref_size:
		do_deref(r, op->a, op, need);
		break;
	case RPN_xderef:
	case RPN_xderef_size:
		do_far(r, op);
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
	case RPN_entry_value:
		emit_same(r, op);
		push(r, entry_unknown(), NOWHERE);
		break;
	default:
		if (op->pops == 1)
			do_unary(r, op);
		else
			do_binary(r, op);
	}
}

static void rewrite(struct rewriting *r, const struct move_need *needs,
		    size_t count, size_t size)
{
	for (size_t i = 0; i < count && !r->failed && !r->rpn->failed; i++) {
		land(r, needs[i].op.at);
		if (!r->dead)
			do_op(r, &needs[i].op, needs[i].need);
	}
	if (r->failed || r->rpn->failed)
		return;
	land(r, size);
}

static int finish(struct rewriting *r, size_t start, bool far,
		  struct move_entry *entry)
{
	const struct bytes *rpn = r->rpn;

	if (rpn->failed)
		return -ENOMEM;
	for (int i = 0; i + 1 < r->entries.count; i++)
		check_missing(r, &r->entries.at[i]);
	if (r->failed)
		return 1;
	if (rpn_check(rpn->data + start, rpn->size - start, far ? 2 : 1,
		      NULL)) {
		move_report_text(r->move, "its expression gets too long");
		return 1;
	}
	*entry = r->entries.at[r->entries.count - 1];
	return 0;
}

int move_rpn(const struct move *move, const uint8_t *bytes, size_t size,
	     bool far, unsigned int need, struct bytes *rpn,
	     struct move_entry *entry)
{
	struct rewriting r = { .move = move, .in = bytes, .rpn = rpn };
	size_t count, jumps, start = rpn->size;
	struct move_need *needs;
	int code;

	if (rpn_check(bytes, size, far ? 2 : 1, NULL)) {
		move_report_text(move, "its expression is damaged");
		return 1;
	}
	needs = move_need_find(bytes, size, need, move->state.width, &count,
			       &jumps);
	if (needs && jumps > JUMPS_MAX) {
		move_report_text(move, "its expression has too many branches");
		free(needs);
		return 1;
	}
	r.jumps = calloc(JUMPS_MAX, sizeof(*r.jumps));
	if (needs && r.jumps) {
		rewrite(&r, needs, count, size);
		code = finish(&r, start, far, entry);
	} else {
		code = -ENOMEM;
	}
	free(needs);
	free(r.jumps);
	return code;
}

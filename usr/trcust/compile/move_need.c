// SPDX-License-Identifier: GPL-2.0
#include "move_need.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>

/* Numbers of the operations that pushed what is there. */
struct stack {
	uint32_t at[TDF_RPN_STACK];
	int count;
};

struct landing {
	size_t target;
	struct stack stack;
};

struct finder {
	struct move_need *ops;
	unsigned int width;
	struct stack stack;
	bool dead;
	struct landing *landings;
	size_t landing_count;
};

static void want(struct move_need *op, unsigned int need)
{
	if (need > op->need)
		op->need = need > 8 ? 8 : need;
}

/* Where ways part or meet all of everything is taken to be needed. */
static void want_all(struct finder *f, const struct stack *stack)
{
	for (int i = 0; i < stack->count; i++)
		want(&f->ops[stack->at[i]], 8);
}

static void land(struct finder *f, size_t at)
{
	for (size_t i = 0; i < f->landing_count; i++) {
		if (f->landings[i].target != at)
			continue;
		want_all(f, &f->stack);
		if (f->dead)
			f->stack = f->landings[i].stack;
		f->dead = false;
	}
}

static void jump(struct finder *f, uint32_t index)
{
	struct move_need *op = &f->ops[index];
	struct landing *landing = &f->landings[f->landing_count++];

	want_all(f, &f->stack);
	if (op->op.code == RPN_bra)
		f->stack.count--;
	landing->target = op->op.a;
	landing->stack = f->stack;
	f->dead = op->op.code == RPN_skip;
}

static void copy(struct stack *stack, unsigned int depth)
{
	stack->at[stack->count] = stack->at[stack->count - 1 - depth];
	stack->count++;
}

/* The first becomes third. */
static void rotate(struct stack *stack)
{
	uint32_t *top = &stack->at[stack->count - 3], first = top[2];

	top[2] = top[1];
	top[1] = top[0];
	top[0] = first;
}

static void swap(struct stack *stack)
{
	uint32_t *top = &stack->at[stack->count - 2], first = top[1];

	top[1] = top[0];
	top[0] = first;
}

static void walk(struct finder *f, uint32_t index)
{
	struct move_need *op = &f->ops[index];
	struct stack *stack = &f->stack;

	switch (op->op.code) {
	case RPN_dup:
		copy(stack, 0);
		return;
	case RPN_over:
		copy(stack, 1);
		return;
	case RPN_pick:
		copy(stack, op->op.a);
		return;
	case RPN_drop:
		stack->count--;
		return;
	case RPN_swap:
		swap(stack);
		return;
	case RPN_rot:
		rotate(stack);
		return;
	case RPN_bra:
	case RPN_skip:
		jump(f, index);
		return;
	}
	op->count = op->op.pops;
	for (unsigned int i = op->count; i--;)
		op->arguments[i] = stack->at[--stack->count];
	if (op->op.pushes)
		stack->at[stack->count++] = index;
}

static bool is_number(const struct move_need *op, uint64_t *number)
{
	if (op->op.code >= RPN_lit && op->op.code <= RPN_lit_last)
		*number = op->op.index;
	else if (op->op.code >= RPN_const1u && op->op.code <= RPN_consts)
		*number = op->op.a;
	else
		return false;
	return true;
}

static unsigned int bytes_of(uint64_t mask)
{
	unsigned int bytes = 0;

	for (; mask; mask >>= 8)
		bytes++;
	return bytes;
}

static void want_masked(struct finder *f, const struct move_need *op,
			unsigned int need)
{
	for (int i = 0; i < 2; i++) {
		struct move_need *other = &f->ops[op->arguments[!i]];
		uint64_t mask;
		unsigned int bytes = need;

		if (is_number(other, &mask) && bytes_of(mask) < need)
			bytes = bytes_of(mask);
		want(&f->ops[op->arguments[i]], bytes);
	}
}

static void want_shifted(struct finder *f, const struct move_need *op,
			 unsigned int need)
{
	struct move_need *count = &f->ops[op->arguments[1]];
	unsigned int bytes = 8;
	uint64_t bits;

	if (is_number(count, &bits) && bits < 64) {
		if (op->op.code == RPN_shl)
			bytes = need > bits / 8 ? need - bits / 8 : 1;
		else
			bytes = need + (bits + 7) / 8;
	}
	want(&f->ops[op->arguments[0]], bytes);
	want(count, 8);
}

static void want_arguments(struct finder *f, const struct move_need *op)
{
	unsigned int need = 8;

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
		want_masked(f, op, op->need);
		return;
	case RPN_shl:
	case RPN_shr:
	case RPN_shra:
		want_shifted(f, op, op->need);
		return;
	}
	for (unsigned int i = 0; i < op->count; i++)
		want(&f->ops[op->arguments[i]], need);
}

static struct move_need *decode(const uint8_t *rpn, size_t size, size_t *count,
				size_t *jumps)
{
	struct move_need *ops = NULL;

	for (int pass = 0; pass < 2; pass++) {
		struct rpn_op op = { 0 };

		*count = *jumps = 0;
		while (rpn_next(rpn, size, &op)) {
			*jumps += op.operand == RPN_JUMP;
			if (ops)
				ops[*count].op = op;
			++*count;
		}
		if (!ops)
			ops = calloc(*count + 1, sizeof(*ops));
		if (!ops)
			return NULL;
	}
	return ops;
}

struct move_need *move_need_find(const uint8_t *rpn, size_t size,
				 unsigned int need, unsigned int width,
				 size_t *count, size_t *jumps)
{
	struct finder f = { .width = width };

	f.ops = decode(rpn, size, count, jumps);
	f.landings = calloc(*jumps + 1, sizeof(*f.landings));
	if (!f.ops || !f.landings) {
		free(f.ops);
		free(f.landings);
		return NULL;
	}
	for (uint32_t i = 0; i < *count; i++) {
		land(&f, f.ops[i].op.at);
		if (!f.dead)
			walk(&f, i);
	}
	land(&f, size);
	for (int i = 0; i < f.stack.count; i++)
		want(&f.ops[f.stack.at[i]],
		     i == f.stack.count - 1 ? need : 8);
	for (size_t i = *count; i--;) {
		want(&f.ops[i], 1);
		want_arguments(&f, &f.ops[i]);
	}
	free(f.landings);
	return f.ops;
}

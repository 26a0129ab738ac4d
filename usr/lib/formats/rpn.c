// SPDX-License-Identifier: GPL-2.0
#include "rpn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/cursor.h"

struct rpn_def {
	const char *name;
	uint8_t first;
	uint8_t pops, pushes;
	enum rpn_operand operand;
};

static const struct rpn_def rpn_defs[256] = {
#define RPN_OP(name, code, operand, pops, pushes) \
	[code] = { #name, code, pops, pushes, RPN_##operand },
#define RPN_OP_RANGE(name, first, last, operand, pops, pushes) \
	[first ... last] = { #name, first, pops, pushes, RPN_##operand },
#include <rastrace/rpn.def>
#undef RPN_OP
#undef RPN_OP_RANGE
};

static void read_size(struct cursor *r, struct rpn_op *op)
{
	op->a = cursor_fixed(r, 1);
	if (op->a != 1 && op->a != 2 && op->a != 4 && op->a != 8)
		r->failed = true;
}

static void read_jump(struct cursor *r, struct rpn_op *op)
{
	int64_t distance = cursor_signed(r, 2);

	op->a = r->address + distance;
	if (distance < 0 || distance > r->end - r->at)
		r->failed = true;
}

#define DW_OP_reg0	0x50
#define DW_OP_reg31	0x6f
#define DW_OP_regx	0x90

/* A register, or an argument on the stack */
static void read_entry(struct cursor *r, struct rpn_op *op)
{
	uint64_t length = cursor_uleb(r);
	size_t end = r->address + length;
	uint8_t code;

	if (r->failed || length > (uint64_t)(r->end - r->at)) {
		r->failed = true;
		return;
	}
	code = cursor_fixed(r, 1);
	if (code >= DW_OP_reg0 && code <= DW_OP_reg31) {
		op->a = code - DW_OP_reg0;
	} else if (code == DW_OP_regx) {
		op->a = cursor_uleb(r);
	} else if (code >= RPN_breg && code <= RPN_breg_last) {
		op->a = code - RPN_breg;
		op->b = cursor_sleb(r);
		r->failed |= cursor_fixed(r, 1) != RPN_deref_size;
		op->bytes = cursor_fixed(r, 1);
		r->failed |= op->bytes != 4 && op->bytes != 8;
	} else {
		r->failed = true;
	}
	r->failed |= r->address != end;
}

static void read_operand(struct cursor *r, struct rpn_op *op)
{
	switch (op->operand) {
	case RPN_NONE:
		break;
	case RPN_U1:
	case RPN_U2:
	case RPN_U4:
		op->a = cursor_fixed(r, op->operand == RPN_U1 ? 1 :
				      op->operand == RPN_U2 ? 2 : 4);
		break;
	case RPN_S1:
	case RPN_S2:
	case RPN_S4:
		op->a = cursor_signed(r, op->operand == RPN_S1 ? 1 :
				       op->operand == RPN_S2 ? 2 : 4);
		break;
	case RPN_U8:
	case RPN_S8:
	case RPN_ADDR:
		op->a = cursor_fixed(r, 8);
		break;
	case RPN_ULEB:
	case RPN_SLEB:
		op->a = op->operand == RPN_SLEB ? (uint64_t)cursor_sleb(r) :
						 cursor_uleb(r);
		break;
	case RPN_ULEB_SLEB:
		op->a = cursor_uleb(r);
		op->b = cursor_sleb(r);
		break;
	case RPN_SIZE:
		read_size(r, op);
		break;
	case RPN_JUMP:
		read_jump(r, op);
		break;
	case RPN_ENTRY:
		read_entry(r, op);
		break;
	}
}

int rpn_decode(const uint8_t *rpn, size_t size, size_t at, struct rpn_op *op)
{
	struct cursor r = { .end = rpn + size, .address = at };
	const struct rpn_def *def;

	if (at >= size)
		return -EINVAL;
	r.at = rpn + at;
	memset(op, 0, sizeof(*op));
	op->at = at;
	op->code = cursor_fixed(&r, 1);
	def = &rpn_defs[op->code];
	if (!def->name)
		return -EINVAL;
	op->index = op->code - def->first;
	op->pops = def->pops;
	op->pushes = def->pushes;
	op->operand = def->operand;
	op->name = def->name;
	read_operand(&r, op);
	op->next = r.address;
	return r.failed ? -EINVAL : 0;
}

#define UNREACHED	(-1)

/* Where the check stands; depth_at[] is known for the targets of jumps. */
struct check {
	int depth;			/* UNREACHED behind a skip */
	int8_t depth_at[TDF_RPN_MAX + 1];
	struct error *err;
};

static int check_join(struct check *c, size_t at)
{
	int known = c->depth_at[at];

	if (known == UNREACHED)
		return 0;
	if (c->depth != UNREACHED && c->depth != known)
		return error_set(c->err, -EINVAL,
				 "ways to byte %zu differ in stack depth", at);
	c->depth = known;
	return 0;
}

static int check_depth(struct check *c, const struct rpn_op *op)
{
	int needed = op->code == RPN_pick ? (int)op->a + 1 : op->pops;

	if (c->depth < needed)
		return error_set(c->err, -EINVAL,
				 "stack underflow at byte %zu ('%s')",
				 op->at, op->name);
	c->depth += op->pushes - op->pops;
	if (c->depth > TDF_RPN_STACK)
		return error_set(c->err, -EINVAL,
				 "stack overflow at byte %zu ('%s')",
				 op->at, op->name);
	return 0;
}

static int check_jump(struct check *c, const struct rpn_op *op)
{
	int known = c->depth_at[op->a];

	if (known != UNREACHED && known != c->depth)
		return error_set(c->err, -EINVAL,
				 "ways to byte %zu differ in stack depth",
				 (size_t)op->a);
	c->depth_at[op->a] = c->depth;
	if (op->code == RPN_skip)
		c->depth = UNREACHED;
	return 0;
}

static int check_op(struct check *c, const struct rpn_op *op)
{
	int ret = check_join(c, op->at);

	for (size_t i = op->at + 1; i < op->next && !ret; i++) {
		if (c->depth_at[i] != UNREACHED)
			ret = error_set(c->err, -EINVAL,
					"jump into the operands of '%s' at "
					"byte %zu", op->name, op->at);
	}
	if (ret || c->depth == UNREACHED)
		return ret;
	ret = check_depth(c, op);
	if (!ret && op->operand == RPN_JUMP)
		ret = check_jump(c, op);
	return ret;
}

int rpn_check(const uint8_t *rpn, size_t size, int entries, struct error *err)
{
	struct check c = { .err = err };
	struct rpn_op op;
	int ret;

	if (size > TDF_RPN_MAX)
		return error_set(err, -EINVAL, "expression exceeds %d bytes",
				 TDF_RPN_MAX);
	memset(c.depth_at, UNREACHED, sizeof(c.depth_at));
	for (size_t at = 0; at < size; at = op.next) {
		ret = rpn_decode(rpn, size, at, &op);
		if (ret)
			return error_set(err, ret,
					 "bad operation at byte %zu", at);
		ret = check_op(&c, &op);
		if (ret)
			return ret;
	}
	ret = check_join(&c, size);
	if (!ret && c.depth != entries)
		ret = error_set(err, -EINVAL, "%d values left instead of %d",
				c.depth, entries);
	return ret;
}

struct text {
	char *text;
	size_t size, used;
};

__attribute__((format(printf, 2, 3)))
static void text_add(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->text + t->used, t->size - t->used, fmt, args);
	va_end(args);
	if (n < 0)
		return;
	t->used = t->used + n < t->size ? t->used + n : t->size - 1;
}

static void print_op(struct text *t, const struct rpn_op *op)
{
	text_add(t, "%s%s", op->at ? "; " : "", op->name);
	if (op->code >= RPN_lit && op->code <= RPN_breg_last)
		text_add(t, "%d", op->index);
	switch (op->operand) {
	case RPN_NONE:
		break;
	case RPN_ADDR:
		text_add(t, " 0x%llx", (unsigned long long)op->a);
		break;
	case RPN_ULEB_SLEB:
		text_add(t, " %llu%+lld", (unsigned long long)op->a,
			 (long long)op->b);
		break;
	case RPN_S1:
	case RPN_S2:
	case RPN_S4:
	case RPN_S8:
	case RPN_SLEB:
		text_add(t, op->code <= RPN_consts ? " %lld" : "%+lld",
			 (long long)op->a);
		break;
	case RPN_JUMP:
		text_add(t, " to %llu", (unsigned long long)op->a);
		break;
	case RPN_ENTRY:
		text_add(t, " reg%llu", (unsigned long long)op->a);
		if (op->bytes)
			text_add(t, "%+lld size %u", (long long)op->b,
				 op->bytes);
		break;
	default:
		text_add(t, " %llu", (unsigned long long)op->a);
	}
}

void rpn_print(const uint8_t *rpn, size_t size, char *text, size_t text_size)
{
	struct text t = { .text = text, .size = text_size };
	struct rpn_op op;

	if (!text_size)
		return;
	text[0] = '\0';
	for (size_t at = 0; at < size; at = op.next) {
		if (rpn_decode(rpn, size, at, &op)) {
			text_add(&t, "%s?", at ? "; " : "");
			return;
		}
		print_op(&t, &op);
	}
}

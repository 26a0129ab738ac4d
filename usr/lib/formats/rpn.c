// SPDX-License-Identifier: GPL-2.0
#include "rpn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <rastrace/tdf.h>

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

struct reader {
	const uint8_t *bytes;
	size_t size, at;
	bool bad;
};

static uint64_t read_fixed(struct reader *r, size_t bytes)
{
	uint64_t value = 0;

	if (r->size - r->at < bytes) {
		r->bad = true;
		return 0;
	}
	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)r->bytes[r->at++] << (8 * i);
	return value;
}

static uint64_t read_signed(struct reader *r, size_t bytes)
{
	unsigned int unused = 64 - 8 * bytes;

	return (uint64_t)((int64_t)(read_fixed(r, bytes) << unused) >> unused);
}

/* DWARF 5, section 7.6; the tenth byte holds the 64th bit and its copies. */
static uint64_t read_leb(struct reader *r, bool is_signed)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = read_fixed(r, 1), bits = byte & 0x7f;

		value |= (uint64_t)bits << shift;
		if (shift == 63 &&
		    !(bits == 0 || bits == (is_signed ? 0x7f : 1)))
			break;
		if (byte & 0x80)
			continue;
		if (is_signed && (bits & 0x40) && shift < 57)
			value |= ~0ULL << (shift + 7);
		return value;
	}
	r->bad = true;
	return 0;
}

static void read_size(struct reader *r, struct rpn_op *op)
{
	op->a = read_fixed(r, 1);
	if (op->a != 1 && op->a != 2 && op->a != 4 && op->a != 8)
		r->bad = true;
}

static void read_jump(struct reader *r, struct rpn_op *op)
{
	int64_t distance = read_signed(r, 2);

	op->a = r->at + distance;
	if (distance < 0 || op->a > r->size)
		r->bad = true;
}

#define DW_OP_reg0	0x50
#define DW_OP_reg31	0x6f
#define DW_OP_regx	0x90

/* A register, or an argument on the stack */
static void read_entry(struct reader *r, struct rpn_op *op)
{
	uint64_t length = read_leb(r, false);
	size_t end = r->at + length;
	uint8_t code;

	if (r->bad || length > r->size - r->at) {
		r->bad = true;
		return;
	}
	code = read_fixed(r, 1);
	if (code >= DW_OP_reg0 && code <= DW_OP_reg31) {
		op->a = code - DW_OP_reg0;
	} else if (code == DW_OP_regx) {
		op->a = read_leb(r, false);
	} else if (code >= RPN_breg && code <= RPN_breg_last) {
		op->a = code - RPN_breg;
		op->b = read_leb(r, true);
		r->bad |= read_fixed(r, 1) != RPN_deref_size;
		op->bytes = read_fixed(r, 1);
		r->bad |= op->bytes != 4 && op->bytes != 8;
	} else {
		r->bad = true;
	}
	r->bad |= r->at != end;
}

static void read_operand(struct reader *r, struct rpn_op *op)
{
	switch (op->operand) {
	case RPN_NONE:
		break;
	case RPN_U1:
	case RPN_U2:
	case RPN_U4:
		op->a = read_fixed(r, op->operand == RPN_U1 ? 1 :
				      op->operand == RPN_U2 ? 2 : 4);
		break;
	case RPN_S1:
	case RPN_S2:
	case RPN_S4:
		op->a = read_signed(r, op->operand == RPN_S1 ? 1 :
				       op->operand == RPN_S2 ? 2 : 4);
		break;
	case RPN_U8:
	case RPN_S8:
	case RPN_ADDR:
		op->a = read_fixed(r, 8);
		break;
	case RPN_ULEB:
	case RPN_SLEB:
		op->a = read_leb(r, op->operand == RPN_SLEB);
		break;
	case RPN_ULEB_SLEB:
		op->a = read_leb(r, false);
		op->b = read_leb(r, true);
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
	struct reader r = { .bytes = rpn, .size = size, .at = at };
	const struct rpn_def *def;

	if (at >= size)
		return -EINVAL;
	memset(op, 0, sizeof(*op));
	op->at = at;
	op->code = read_fixed(&r, 1);
	def = &rpn_defs[op->code];
	if (!def->name)
		return -EINVAL;
	op->index = op->code - def->first;
	op->pops = def->pops;
	op->pushes = def->pushes;
	op->operand = def->operand;
	op->name = def->name;
	read_operand(&r, op);
	op->next = r.at;
	return r.bad ? -EINVAL : 0;
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

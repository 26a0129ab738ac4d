// SPDX-License-Identifier: GPL-2.0
#include "rpn.h"

#include <errno.h>
#include <rastrace/tdf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
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

#define DW_OP_reg0	0x50
#define DW_OP_reg31	0x6f
#define DW_OP_regx	0x90

/* A register, or an argument on the stack */
static void rpn_entry_read(struct cursor *r, struct rpn_op *op)
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

static uint32_t rpn_tree_offset(struct cursor *r)
{
	uint64_t offset = cursor_uleb(r);

	r->failed |= offset > INT32_MAX;
	return offset;
}

static void rpn_tree_read(struct cursor *r, struct rpn_op *op)
{
	op->tree.left = rpn_tree_offset(r);
	op->tree.right = rpn_tree_offset(r);
	op->tree.parent = rpn_tree_offset(r);
	op->tree.steps = cursor_fixed(r, 1);
	r->failed |= !op->tree.steps || op->tree.steps > RPN_STEPS_MAX;
}

static void rpn_operand_read(struct cursor *r, struct rpn_op *op)
{
	int64_t distance;

	switch (op->operand) {
	case RPN_NONE:
		break;
	case RPN_U1:
	case RPN_U2:
	case RPN_U4:
		op->a = cursor_fixed(r, op->operand == RPN_U1 ? 1 :
				      op->operand == RPN_U2 ? 2 : 4);
		r->failed |= op->code == RPN_kept &&
			     (!op->a || op->a > TDF_KEPT_MAX);
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
		r->failed |= op->code == RPN_vector && op->b && op->b != 8;
		break;
	case RPN_SIZE:
		op->a = cursor_fixed(r, 1);
		r->failed |= op->a != 1 && op->a != 2 && op->a != 4 &&
			     op->a != 8;
		break;
	case RPN_JUMP:
		distance = cursor_signed(r, 2);
		op->a = r->address + distance;
		r->failed |= distance < 0 || distance > r->end - r->at;
		break;
	case RPN_ENTRY:
		rpn_entry_read(r, op);
		break;
	case RPN_TREE:
		rpn_tree_read(r, op);
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
	rpn_operand_read(&r, op);
	op->next = r.address;
	return r.failed ? -EINVAL : 0;
}

bool rpn_next(const uint8_t *rpn, size_t size, struct rpn_op *op)
{
	size_t at = op->next;

	if (!rpn_decode(rpn, size, at, op))
		return true;
	op->next = at;
	return false;
}

bool rpn_single(const uint8_t *rpn, size_t size, struct rpn_op *op)
{
	return !rpn_decode(rpn, size, 0, op) && op->next == size;
}

bool rpn_is_constant(const struct rpn_op *op, int64_t *value)
{
	bool literal = op->code >= RPN_lit && op->code <= RPN_lit_last;

	*value = literal ? op->index : (int64_t)op->a;
	return literal || (op->code >= RPN_const1u && op->code <= RPN_consts);
}

bool rpn_is_register(const struct rpn_op *op, uint64_t *number, int64_t *offset)
{
	bool indexed = op->code == RPN_bregx;

	*number = indexed ? op->a : op->index;
	*offset = indexed ? op->b : (int64_t)op->a;
	return indexed || (op->code >= RPN_breg && op->code <= RPN_breg_last);
}

bool rpn_is_deref(const struct rpn_op *op)
{
	return op->code == RPN_deref || op->code == RPN_deref_size ||
	       op->code == RPN_xderef || op->code == RPN_xderef_size ||
	       op->code == RPN_tree_next;
}

unsigned int rpn_kept(const uint8_t *rpn, size_t size)
{
	struct rpn_op op = { 0 };
	unsigned int numbers = 0;

	while (rpn_next(rpn, size, &op))
		if (op.code == RPN_kept)
			numbers |= 1u << op.a;
	return numbers;
}

bool rpn_has_entry(const uint8_t *rpn, size_t size, unsigned int *values)
{
	struct rpn_op op = { 0 };
	bool found = false;

	*values = 0;
	while (rpn_next(rpn, size, &op)) {
		found |= op.code == RPN_elapsed || op.code == RPN_cputime ||
			 op.code == RPN_at_entry;
		if (op.code == RPN_at_entry && op.a >= *values)
			*values = op.a + 1;
	}
	return found;
}

#define UNREACHED	(-1)

/* depth_at[] is known for the targets of jumps. */
struct rpn_check {
	int depth;			/* UNREACHED after a skip */
	int8_t depth_at[TDF_RPN_MAX + 1];
	struct error *err;
};

static int rpn_check_join(struct rpn_check *c, size_t at)
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

static int rpn_check_depth(struct rpn_check *c, const struct rpn_op *op)
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

static int rpn_check_jump(struct rpn_check *c, const struct rpn_op *op)
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

static int rpn_check_op(struct rpn_check *c, const struct rpn_op *op)
{
	int ret = rpn_check_join(c, op->at);

	for (size_t i = op->at + 1; i < op->next && !ret; i++) {
		if (c->depth_at[i] != UNREACHED)
			ret = error_set(c->err, -EINVAL,
					"jump into the operands of '%s' at "
					"byte %zu", op->name, op->at);
	}
	if (ret || c->depth == UNREACHED)
		return ret;
	ret = rpn_check_depth(c, op);
	if (!ret && op->operand == RPN_JUMP)
		ret = rpn_check_jump(c, op);
	return ret;
}

int rpn_check(const uint8_t *rpn, size_t size, int entries, struct error *err)
{
	struct rpn_check c = { .err = err };
	struct rpn_op op = { 0 };
	int ret;

	if (size > TDF_RPN_MAX)
		return error_set(err, -EINVAL, "expression exceeds %d bytes",
				 TDF_RPN_MAX);
	memset(c.depth_at, UNREACHED, sizeof(c.depth_at));
	while (rpn_next(rpn, size, &op)) {
		ret = rpn_check_op(&c, &op);
		if (ret)
			return ret;
	}
	if (op.next != size)
		return error_set(err, -EINVAL, "bad operation at byte %zu",
				 op.next);
	ret = rpn_check_join(&c, size);
	if (!ret && c.depth != entries)
		ret = error_set(err, -EINVAL, "%d values left instead of %d",
				c.depth, entries);
	return ret;
}

struct rpn_text {
	char *text;
	size_t size, used;
};

__attribute__((format(printf, 2, 3)))
static void rpn_text_add(struct rpn_text *t, const char *fmt, ...)
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

static void rpn_print_op(struct rpn_text *t, const struct rpn_op *op)
{
	rpn_text_add(t, "%s%s", op->at ? "; " : "", op->name);
	if (op->code >= RPN_lit && op->code <= RPN_breg_last)
		rpn_text_add(t, "%d", op->index);
	switch (op->operand) {
	case RPN_NONE:
		break;
	case RPN_ADDR:
		rpn_text_add(t, " 0x%llx", (unsigned long long)op->a);
		break;
	case RPN_ULEB_SLEB:
		rpn_text_add(t, " %llu%+lld", (unsigned long long)op->a,
			 (long long)op->b);
		break;
	case RPN_S1:
	case RPN_S2:
	case RPN_S4:
	case RPN_S8:
	case RPN_SLEB:
		rpn_text_add(t, op->code <= RPN_consts ? " %lld" : "%+lld",
			 (long long)op->a);
		break;
	case RPN_JUMP:
		rpn_text_add(t, " to %llu", (unsigned long long)op->a);
		break;
	case RPN_ENTRY:
		rpn_text_add(t, " reg%llu", (unsigned long long)op->a);
		if (op->bytes)
			rpn_text_add(t, "%+lld size %u", (long long)op->b,
				 op->bytes);
		break;
	case RPN_TREE:
		rpn_text_add(t, " %u %u %u, %u steps", op->tree.left,
			     op->tree.right, op->tree.parent,
			     op->tree.steps);
		break;
	default:
		rpn_text_add(t, " %llu", (unsigned long long)op->a);
	}
}

void rpn_print(const uint8_t *rpn, size_t size, char *text, size_t text_size)
{
	struct rpn_text t = { .text = text, .size = text_size };
	struct rpn_op op = { 0 };

	if (!text_size)
		return;
	text[0] = '\0';
	while (rpn_next(rpn, size, &op))
		rpn_print_op(&t, &op);
	if (op.next != size)
		rpn_text_add(&t, "%s?", op.next ? "; " : "");
}

void rpn_emit_op(struct bytes *rpn, uint8_t code)
{
	bytes_add(rpn, &code, 1);
}

void rpn_emit_uleb(struct bytes *rpn, uint64_t value)
{
	do {
		rpn_emit_op(rpn, (value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
}

void rpn_emit_sleb(struct bytes *rpn, int64_t value)
{
	bool more;

	do {
		uint8_t low = value & 0x7f;

		value >>= 7;
		more = value != (low & 0x40 ? -1 : 0);
		rpn_emit_op(rpn, low | (more ? 0x80 : 0));
	} while (more);
}

void rpn_emit_fixed(struct bytes *rpn, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		rpn_emit_op(rpn, value >> (8 * i));
}

void rpn_emit_const(struct bytes *rpn, int64_t value)
{
	if (value >= 0 && value < 32) {
		rpn_emit_op(rpn, RPN_lit + value);
	} else if (value >> 56 && value >> 55 != -1) {
		rpn_emit_op(rpn, RPN_const8u);
		rpn_emit_fixed(rpn, value, 8);
	} else if (value >= 0) {
		rpn_emit_op(rpn, RPN_constu);
		rpn_emit_uleb(rpn, value);
	} else {
		rpn_emit_op(rpn, RPN_consts);
		rpn_emit_sleb(rpn, value);
	}
}

void rpn_emit_addr(struct bytes *rpn, uint64_t address)
{
	rpn_emit_op(rpn, RPN_addr);
	rpn_emit_fixed(rpn, address, 8);
}

void rpn_emit_register(struct bytes *rpn, unsigned int number,
		       int64_t displacement)
{
	if (number < 32) {
		rpn_emit_op(rpn, RPN_breg + number);
	} else {
		rpn_emit_op(rpn, RPN_bregx);
		rpn_emit_uleb(rpn, number);
	}
	rpn_emit_sleb(rpn, displacement);
}

void rpn_emit_vector(struct bytes *rpn, unsigned int number, bool high)
{
	rpn_emit_op(rpn, RPN_vector);
	rpn_emit_uleb(rpn, number);
	rpn_emit_sleb(rpn, high ? 8 : 0);
}

void rpn_emit_kept(struct bytes *rpn, unsigned int number)
{
	rpn_emit_op(rpn, RPN_kept);
	rpn_emit_op(rpn, number);
}

void rpn_emit_at_entry(struct bytes *rpn, unsigned int number)
{
	rpn_emit_op(rpn, RPN_at_entry);
	rpn_emit_op(rpn, number);
}

void rpn_emit_tree_next(struct bytes *rpn, const struct rpn_tree *tree)
{
	rpn_emit_op(rpn, RPN_tree_next);
	rpn_emit_uleb(rpn, tree->left);
	rpn_emit_uleb(rpn, tree->right);
	rpn_emit_uleb(rpn, tree->parent);
	rpn_emit_op(rpn, tree->steps);
}

void rpn_emit_add(struct bytes *rpn, int64_t value, bool wide)
{
	if (value > 0) {
		rpn_emit_op(rpn, RPN_plus_uconst);
		rpn_emit_uleb(rpn, value);
	} else if (value < 0) {
		rpn_emit_op(rpn, RPN_constu);
		rpn_emit_uleb(rpn, -(uint64_t)value);
		rpn_emit_op(rpn, RPN_minus);
	}
	if (value && !wide)
		rpn_emit_extend(rpn, 4, false);
}

void rpn_emit_deref(struct bytes *rpn, unsigned int bytes)
{
	if (bytes == 8) {
		rpn_emit_op(rpn, RPN_deref);
		return;
	}
	rpn_emit_op(rpn, RPN_deref_size);
	rpn_emit_op(rpn, bytes);
}

void rpn_emit_extend(struct bytes *rpn, unsigned int bytes, bool is_signed)
{
	unsigned int bits = 64 - 8 * bytes;

	if (!bits)
		return;
	if (!is_signed) {
		rpn_emit_op(rpn, bytes > 4 ? RPN_const8u : RPN_const4u);
		rpn_emit_fixed(rpn, UINT64_MAX >> bits, bytes > 4 ? 8 : 4);
		rpn_emit_op(rpn, RPN_and);
		return;
	}
	rpn_emit_const(rpn, bits);
	rpn_emit_op(rpn, RPN_shl);
	rpn_emit_const(rpn, bits);
	rpn_emit_op(rpn, RPN_shra);
}

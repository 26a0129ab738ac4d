// SPDX-License-Identifier: GPL-2.0
#include "value.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/rpn.h"
#include "analysis.h"

struct evaluation evaluation_begin(const struct compilation *c,
				   const struct compile_site *site)
{
	return (struct evaluation){
		.c = c, .site = site,
		.wide = c->module->elf_class == ELFCLASS64,
	};
}

void value_push(const struct value *value, struct bytes *rpn)
{
	if (value->kind == VALUE_CONSTANT)
		rpn_emit_const(rpn, value->number);
	else
		bytes_join(rpn, &value->rpn);
}

void value_free(struct value *value)
{
	bytes_free(&value->rpn);
	place_free(&value->place);
}

bool value_copy(const struct value *value, struct value *copy)
{
	*copy = *value;
	copy->rpn = (struct bytes){ 0 };
	bytes_join(&copy->rpn, &value->rpn);
	copy->place = (struct place){ 0 };
	for (size_t i = 0; i < value->place.count; i++) {
		const struct place_piece *from = &value->place.pieces[i];
		struct place_piece *to = place_add(&copy->place, from->kind,
						   from->bytes);

		if (!to)
			break;
		bytes_join(&to->rpn, &from->rpn);
		copy->place.failed |= to->rpn.failed;
		to->why = from->why ? strdup(from->why) : NULL;
	}
	memcpy(copy->place.where, value->place.where,
	       sizeof(copy->place.where));
	if (!copy->rpn.failed && !copy->place.failed)
		return true;
	value_free(copy);
	return false;
}

bool value_report_memory(struct evaluation *e, struct srcpos pos)
{
	diag_no_memory(e->c->diag, pos);
	e->code = -1;
	return false;
}

bool value_refuse(struct evaluation *e, struct srcpos pos, const char *op,
		  const struct value *a, const struct value *b)
{
	char *first = value_type_spell(&a->type), *both = NULL;
	char *second = b ? value_type_spell(&b->type) : NULL;

	if (!first || (b && !second) ||
	    asprintf(&both, second ? "'%s' and '%s'" : "'%s'", first,
		     second) < 0)
		both = NULL;
	free(first);
	free(second);
	if (!both)
		return value_report_memory(e, pos);
	diag_report(e->c->diag, pos, TRCERR_BADOPERAND, op, both);
	if (value_type_kind(&a->type) == DWARF_TYPE_FLOAT ||
	    (b && value_type_kind(&b->type) == DWARF_TYPE_FLOAT))
		diag_hint(e->c->diag, "floating point can be logged, not "
				      "computed with");
	if (value_type_bits(&a->type) > 64 ||
	    (b && value_type_bits(&b->type) > 64))
		diag_hint(e->c->diag, "the integer's width is not known or "
				      "above 64 bits");
	free(both);
	e->code = 1;
	return false;
}

bool value_report_size(struct evaluation *e, struct srcpos pos,
		       const struct value_type *type)
{
	char *text = value_type_spell(type);

	if (!text)
		return value_report_memory(e, pos);
	diag_report(e->c->diag, pos, TRCERR_NOSIZE, text);
	free(text);
	e->code = 1;
	return false;
}

struct value value_constant(struct value_type type, uint64_t number)
{
	return (struct value){
		.type = type,
		.kind = VALUE_CONSTANT,
		.number = number,
		.where = "constant",
		.name = "",
	};
}

/* The value at a place is not known; it may be at another site. */
static bool value_absent(struct evaluation *e, const struct value *value,
			 const char *why)
{
	if (e->site->alone) {
		e->code = message_absent(e->c, e->site, value->pos,
					 value->name, why, NULL);
		return false;
	}
	if (!e->absent)
		snprintf(e->absent_why, sizeof(e->absent_why), "%s", why);
	e->absent = true;
	return true;
}

static void become_computed(struct value *value, struct bytes *rpn)
{
	bytes_free(&value->rpn);
	place_free(&value->place);
	value->kind = VALUE_COMPUTED;
	value->rpn = *rpn;
	value->bit_offset = 0;
}

/* Bits in up to nine bytes, whose lowest bit is the first. */
static int bitfield_read(const struct value *value, uint64_t first,
			 unsigned int bytes, bool is_signed, struct bytes *rpn)
{
	unsigned int shift = value->bit_offset % 8, bits = value->bits;
	int code = place_value(&value->place, first, bytes < 8 ? bytes : 8,
			       false, rpn);

	if (!code && bytes == 9) {
		rpn_emit_const(rpn, shift);
		rpn_emit_op(rpn, RPN_shr);
		code = place_value(&value->place, first + 8, 1, false, rpn);
		rpn_emit_const(rpn, 64 - shift);
		rpn_emit_op(rpn, RPN_shl);
		rpn_emit_op(rpn, RPN_or);
		shift = 0;
	}
	if (code)
		return code;
	if (shift + bits < 64) {
		rpn_emit_const(rpn, 64 - shift - bits);
		rpn_emit_op(rpn, RPN_shl);
	}
	if (bits < 64) {
		rpn_emit_const(rpn, 64 - bits);
		rpn_emit_op(rpn, is_signed ? RPN_shra : RPN_shr);
	}
	return 0;
}

/* Bits in up to nine bytes, whose highest bit is the first. */
static int reversed_read(const struct value *value, unsigned int bits,
			 bool is_signed, struct bytes *rpn)
{
	uint64_t first = value->bit_offset / 8, end = value->bit_offset + bits;
	uint64_t last = (end - 1) / 8;
	int code = 0, shift;

	for (uint64_t at = first; !code && at <= last; at++) {
		code = place_value(&value->place, at, 1, false, rpn);
		if (at == first) {
			rpn_emit_const(rpn, 0xff >> value->bit_offset % 8);
			rpn_emit_op(rpn, RPN_and);
		}
		shift = (int)(end - 8 * (at + 1));
		rpn_emit_const(rpn, shift < 0 ? -shift : shift);
		rpn_emit_op(rpn, shift < 0 ? RPN_shr : RPN_shl);
		if (at > first)
			rpn_emit_op(rpn, RPN_or);
	}
	if (is_signed && bits < 64) {
		rpn_emit_const(rpn, 64 - bits);
		rpn_emit_op(rpn, RPN_shl);
		rpn_emit_const(rpn, 64 - bits);
		rpn_emit_op(rpn, RPN_shra);
	}
	return code;
}

bool value_scalar_bytes(struct evaluation *e, struct srcpos pos,
			struct value_type *type, uint64_t *bytes)
{
	if (!value_type_bytes(e->c, type, bytes))
		return value_report_size(e, pos, type);
	if (value_type_scalar_bytes(e->c, type, bytes))
		return true;
	diag_report(e->c->diag, pos, TRCERR_UNSUPPORTED,
		    "computing with integers of such a size");
	e->code = 1;
	return false;
}

static bool read_scalar(struct evaluation *e, struct srcpos pos,
			struct value *value)
{
	bool is_signed = value_type_is_signed(&value->type);
	uint64_t first = value->bit_offset / 8, bytes;
	unsigned int bits = value->bits;
	bool reversed = value->reversed || value_type_is_reversed(&value->type);
	const char *why = "it is smaller than its type";
	struct bytes rpn = {0};
	int code;

	if (!value_scalar_bytes(e, pos, &value->type, &bytes))
		return false;
	if (!bits)
		bits = value->bits = value_type_bits(&value->type);
	value->type = value_type_plain(&value->type);
	if (reversed && !bits)
		bits = 8 * bytes;
	if (bits)
		bytes = (value->bit_offset + bits + 7) / 8 - first;
	if (e->unread)
		rpn_emit_const(&rpn, 0);
	else if (!place_is_known(&value->place, first, bytes, &why)) {
		if (!value_absent(e, value, why))
			return false;
		rpn_emit_const(&rpn, 0);
	} else {
		code = reversed ? reversed_read(value, bits, is_signed, &rpn) :
		       bits ? bitfield_read(value, first, bytes, is_signed,
					    &rpn) :
			      place_value(&value->place, first, bytes,
					  is_signed, &rpn);
		if (code && !value_absent(e, value, why)) {
			bytes_free(&rpn);
			return false;
		}
	}
	snprintf(value->where, sizeof(value->where), "%s", value->place.where);
	become_computed(value, &rpn);
	return !value->rpn.failed || value_report_memory(e, pos);
}

bool value_load(struct evaluation *e, struct srcpos pos, const char *op,
		struct value *value)
{
	struct value_type element;

	switch (value_type_kind(&value->type)) {
	case DWARF_TYPE_ARRAY:
		element = value_type_target(&value->type);
		if (!value_address(e, pos, value))
			return false;
		value->type = value_type_pointer_to(&element);
		return true;
	case DWARF_TYPE_FUNCTION:
		return value->kind != VALUE_PLACE ||
		       value_address(e, pos, value);
	default:
		if (!value_type_is_scalar(&value->type))
			return value_refuse(e, pos, op, value, NULL);
		return value->kind != VALUE_PLACE || read_scalar(e, pos, value);
	}
}

bool value_in_memory(const struct value *value, uint64_t bytes,
		     struct bytes *rpn)
{
	struct place part;
	bool in_memory;
	int code;

	if (value->kind != VALUE_PLACE || value->bits || value->reversed ||
	    value->bit_offset % 8)
		return false;
	code = place_slice(&value->place, value->bit_offset / 8,
			   bytes ? bytes : 1, &part);
	if (code == -ENOMEM)
		rpn->failed = true;
	if (code)
		return code == -ENOMEM;
	in_memory = part.count == 1 && part.pieces[0].kind == PLACE_MEMORY;
	if (in_memory)
		bytes_add(rpn, part.pieces[0].rpn.data,
			  part.pieces[0].rpn.size);
	place_free(&part);
	return in_memory;
}

static bool report_no_address(struct evaluation *e, struct srcpos pos,
			      const struct value *value)
{
	char why[128];

	if (value->kind != VALUE_PLACE || value->bits || value->reversed) {
		value_refuse(e, pos, "&", value, NULL);
		diag_hint(e->c->diag, value->reversed ?
				      "what an address points at would have "
				      "another storage order" :
				      value->bits ?
				      "a bit-field has no address" :
				      "what is computed has no address");
		return false;
	}
	snprintf(why, sizeof(why), "it is not in memory (%s)",
		 value->place.where);
	e->code = message_absent(e->c, e->site, value->pos, value->name,
				 why, NULL);
	return false;
}

bool value_address(struct evaluation *e, struct srcpos pos, struct value *value)
{
	const char *why;
	struct bytes rpn = {0};
	uint64_t bytes;
	bool found = value_type_bytes(e->c, &value->type, &bytes);

	if (!found)
		bytes = 0;
	if (e->unread) {
		rpn_emit_const(&rpn, 0);
	} else if (value->kind == VALUE_PLACE && !value->bits &&
		   !place_is_known(&value->place, value->bit_offset / 8,
				   bytes ? bytes : 1, &why)) {
		if (!value_absent(e, value, why))
			return false;
		rpn_emit_const(&rpn, 0);
	} else if (!value_in_memory(value, bytes, &rpn)) {
		bytes_free(&rpn);
		return report_no_address(e, pos, value);
	}
	if (!e->wide)
		rpn_emit_extend(&rpn, 4, false);
	snprintf(value->where, sizeof(value->where), "address %s%.50s",
		 strncmp(value->place.where, "through ", 8) ? "of " : "",
		 value->place.where);
	become_computed(value, &rpn);
	value->type = value_type_pointer_to(&value->type);
	return !value->rpn.failed || value_report_memory(e, pos);
}

bool value_dereference(struct evaluation *e, struct srcpos pos, const char *op,
		       struct value *value)
{
	enum dwarf_type_kind kind = value_type_kind(&value->type);
	struct value_type target;
	struct place place;
	struct bytes *rpn;

	if (kind == DWARF_TYPE_FUNCTION)
		return true;	/* *f is f */
	if (kind != DWARF_TYPE_POINTER && kind != DWARF_TYPE_ARRAY &&
	    kind != DWARF_TYPE_REFERENCE)
		return value_refuse(e, pos, op, value, NULL);
	target = value_type_target(&value->type);
	if (kind == DWARF_TYPE_ARRAY && value->kind == VALUE_PLACE) {
		value_narrow(value, &target, 0, 0);
		return true;
	}
	if (kind == DWARF_TYPE_REFERENCE ? !read_scalar(e, pos, value) :
					   !value_load(e, pos, op, value))
		return false;
	rpn = place_begin(&place, PLACE_MEMORY);
	if (!rpn)
		return value_report_memory(e, pos);
	value_push(value, rpn);
	snprintf(place.where, sizeof(place.where), "through %s%.40s",
		 strncmp(value->where, "through ", 8) ? "" : "a pointer ",
		 value->where);
	bytes_free(&value->rpn);
	value->kind = VALUE_PLACE;
	value->place = place;
	value->bit_offset = 0;
	value->bits = 0;
	value->reversed = false;
	value->type = target;
	return value_refer(e, value);
}

bool value_refer(struct evaluation *e, struct value *value)
{
	return value_type_kind(&value->type) != DWARF_TYPE_REFERENCE ||
	       value_dereference(e, value->pos, "&", value);
}

void value_narrow(struct value *value, const struct value_type *type,
		  int64_t bits_in, unsigned int bits)
{
	value->reversed &= value_type_kind(&value->type) == DWARF_TYPE_ARRAY;
	value->type = *type;
	value->bit_offset += bits_in;
	value->bits = bits;
}

#define SIGN_BIT	(1ULL << 63)

/* Cuts a value that had other bytes or the other sign to what the type has. */
static void value_cut(struct value *value, unsigned int bytes, bool is_signed)
{
	unsigned int unused = 64 - 8 * bytes;
	uint64_t number = value->number << unused;

	if (bytes == 8)
		return;
	if (value->kind == VALUE_CONSTANT)
		value->number = is_signed ?
				(uint64_t)((int64_t)number >> unused) :
				number >> unused;
	else
		rpn_emit_extend(&value->rpn, bytes, is_signed);
}

static void convert_bool(struct value *value)
{
	if (value->kind == VALUE_CONSTANT) {
		value->number = value->number != 0;
		return;
	}
	rpn_emit_op(&value->rpn, RPN_lit);
	rpn_emit_op(&value->rpn, RPN_ne);
}

static unsigned int scalar_bytes(struct evaluation *e, struct value_type *type)
{
	uint64_t bytes;

	return value_type_scalar_bytes(e->c, type, &bytes) ? bytes : 8;
}

void value_convert(struct evaluation *e, struct value *value,
		   const struct value_type *type)
{
	struct value_type to = *type;
	unsigned int from_bytes = scalar_bytes(e, &value->type);
	unsigned int to_bytes = scalar_bytes(e, &to);
	bool from_signed = value_type_is_signed(&value->type);
	bool to_signed = value_type_is_signed(&to);

	if (value_type_kind(&to) == DWARF_TYPE_BOOL)
		convert_bool(value);
	else if (to_bytes < from_bytes ||
		 (to_bytes == from_bytes && from_signed != to_signed) ||
		 (from_signed && !to_signed))
		value_cut(value, to_bytes, to_signed);
	value->type = to;
	value->bits = 0;
}

/* C11 section 6.3.1.1: what an int can hold becomes one. */
static struct value_type promoted(struct evaluation *e,
				  const struct value *value)
{
	struct value_type type = value->type;
	unsigned int bytes = scalar_bytes(e, &type);
	bool is_signed = value_type_is_signed(&type);

	if (bytes < 4 || (value->bits && value->bits < 32)) {
		bytes = 4;
		is_signed = true;
	} else if (value->bits == 32) {
		bytes = 4;
	}
	return value_type_integer(e->c, bytes, is_signed);
}

static void promote(struct evaluation *e, struct value *value)
{
	struct value_type type = promoted(e, value);

	if (value_type_is_integer(&value->type))
		value_convert(e, value, &type);
}

/* C11 section 6.3.1.8; an integer type of both. */
static struct value_type usual(struct evaluation *e, const struct value *a,
			       const struct value *b)
{
	struct value_type x = promoted(e, a), y = promoted(e, b);

	if (x.bytes == y.bytes)
		return x.is_signed ? y : x;
	return x.bytes > y.bytes ? x : y;
}

bool value_unary(struct evaluation *e, struct srcpos pos, enum expr_op op,
		 struct value *value)
{
	static const uint8_t codes[EXPR_OP_COUNT] = {
		[EXPR_MINUS] = RPN_neg, [EXPR_COMPLEMENT] = RPN_not,
	};
	const char *text = expr_operators[op].text;

	if (!value_load(e, pos, text, value))
		return false;
	if (op != EXPR_NOT && !value_type_is_integer(&value->type))
		return value_refuse(e, pos, text, value, NULL);
	promote(e, value);
	if (op == EXPR_NOT) {
		convert_bool(value);
		if (value->kind == VALUE_CONSTANT)
			value->number = !value->number;
		else	/* not equal to 0 becomes equal to 0 */
			value->rpn.data[value->rpn.size - 1] = RPN_eq;
		value->type = value_type_integer(e->c, 4, true);
		return true;
	}
	if (value->kind == VALUE_CONSTANT)
		value->number = op == EXPR_MINUS ? -value->number :
				op == EXPR_COMPLEMENT ? ~value->number :
							value->number;
	else if (codes[op])
		rpn_emit_op(&value->rpn, codes[op]);
	value_cut(value, value->type.bytes, value->type.is_signed);
	return true;
}

/* Signed comparison of values with the top bit turned is unsigned. */
static void emit_turned(const struct value *value, struct bytes *rpn)
{
	if (value->kind == VALUE_CONSTANT) {
		rpn_emit_const(rpn, value->number ^ SIGN_BIT);
		return;
	}
	value_push(value, rpn);
	rpn_emit_const(rpn, 1);
	rpn_emit_const(rpn, 63);
	rpn_emit_op(rpn, RPN_shl);
	rpn_emit_op(rpn, RPN_xor);
}

static bool compare_constants(enum expr_op op, int64_t x, int64_t y)
{
	switch (op) {
	case EXPR_LT:
		return x < y;
	case EXPR_GT:
		return x > y;
	case EXPR_LE:
		return x <= y;
	case EXPR_GE:
		return x >= y;
	case EXPR_EQ:
		return x == y;
	default:
		return x != y;
	}
}

static void replace_rpn(struct value *value, struct bytes *rpn)
{
	bytes_free(&value->rpn);
	value->rpn = *rpn;
	value->kind = VALUE_COMPUTED;
	snprintf(value->where, sizeof(value->where), "computed");
}

/* Of values that have the same type. */
static void value_compare(struct evaluation *e, enum expr_op op,
			  struct value *a, const struct value *b)
{
	static const uint8_t codes[EXPR_OP_COUNT] = {
		[EXPR_LT] = RPN_lt, [EXPR_GT] = RPN_gt, [EXPR_LE] = RPN_le,
		[EXPR_GE] = RPN_ge, [EXPR_EQ] = RPN_eq, [EXPR_NE] = RPN_ne,
	};
	bool turned = scalar_bytes(e, &a->type) == 8 &&
		      !value_type_is_signed(&a->type) && op != EXPR_EQ &&
		      op != EXPR_NE;
	uint64_t turn = turned ? SIGN_BIT : 0;
	struct bytes rpn = {0};

	if (a->kind == VALUE_CONSTANT && b->kind == VALUE_CONSTANT) {
		a->number = compare_constants(op, a->number ^ turn,
					      b->number ^ turn);
	} else {
		if (turned) {
			emit_turned(a, &rpn);
			emit_turned(b, &rpn);
		} else {
			value_push(a, &rpn);
			value_push(b, &rpn);
		}
		rpn_emit_op(&rpn, codes[op]);
		replace_rpn(a, &rpn);
	}
	a->type = value_type_integer(e->c, 4, true);
}

/*
 * Unsigned division of 64 bits, of which there are only the signed division
 * and the unsigned rest: without its rest the dividend t is a multiple of the
 * divisor b. With g = t / 2 / b * 2 the quotient is g, or g + 1 when g * b is
 * not t yet. A divisor that is negative as a signed number goes in once or not
 * at all.
 */
static void emit_divide_unsigned(struct bytes *rpn)
{
	static const uint8_t multiple[] = {	/* a b: b t */
		RPN_over, RPN_over, RPN_mod, RPN_rot, RPN_rot, RPN_swap,
		RPN_minus, RPN_over, RPN_lit, RPN_lt,
	};
	static const uint8_t small[] = {	/* b t: quotient */
		RPN_dup, RPN_lit + 1, RPN_shr, RPN_pick, 2, RPN_div,
		RPN_lit + 1, RPN_shl, RPN_dup, RPN_pick, 3, RPN_mul, RPN_rot,
		RPN_rot, RPN_ne, RPN_plus, RPN_swap, RPN_drop,
	};
	static const uint8_t large[] = {	/* b t: quotient */
		RPN_swap, RPN_drop, RPN_lit, RPN_ne,
	};

	bytes_add(rpn, multiple, sizeof(multiple));
	rpn_emit_op(rpn, RPN_bra);
	rpn_emit_fixed(rpn, sizeof(small) + 3, 2);
	bytes_add(rpn, small, sizeof(small));
	rpn_emit_op(rpn, RPN_skip);
	rpn_emit_fixed(rpn, sizeof(large), 2);
	bytes_add(rpn, large, sizeof(large));
}

static uint64_t fold(enum expr_op op, const struct value_type *type, uint64_t a,
		     uint64_t b)
{
	int64_t x = a, y = b;

	switch (op) {
	case EXPR_MUL:
		return a * b;
	case EXPR_ADD:
		return a + b;
	case EXPR_SUB:
		return a - b;
	case EXPR_DIV:
		if (!type->is_signed)
			return a / b;
		return y == -1 ? -a : (uint64_t)(x / y);
	case EXPR_MOD:
		if (!type->is_signed)
			return a % b;
		return y == -1 ? 0 : (uint64_t)(x % y);
	case EXPR_SHL:
		return b > 63 ? 0 : a << b;
	case EXPR_SHR:
		if (type->is_signed)
			return x >> (b > 63 ? 63 : b);
		return b > 63 ? 0 : a >> b;
	case EXPR_AND:
		return a & b;
	case EXPR_XOR:
		return a ^ b;
	default:
		return a | b;
	}
}

/* Appends the operation on the two values that were pushed. */
static void emit_arithmetic(struct bytes *rpn, enum expr_op op,
			    const struct value_type *type)
{
	static const uint8_t codes[EXPR_OP_COUNT] = {
		[EXPR_MUL] = RPN_mul, [EXPR_ADD] = RPN_plus,
		[EXPR_SUB] = RPN_minus, [EXPR_SHL] = RPN_shl,
		[EXPR_AND] = RPN_and, [EXPR_XOR] = RPN_xor,
		[EXPR_OR] = RPN_or,
	};
	static const uint8_t rest[] = {	/* a - a / b * b: a's sign */
		RPN_over, RPN_over, RPN_div, RPN_mul, RPN_minus,
	};

	if (op == EXPR_SHR)
		rpn_emit_op(rpn, type->is_signed ? RPN_shra : RPN_shr);
	else if (op == EXPR_MOD && type->is_signed)
		bytes_add(rpn, rest, sizeof(rest));
	else if (op == EXPR_MOD)
		rpn_emit_op(rpn, RPN_mod);
	else if (op != EXPR_DIV)
		rpn_emit_op(rpn, codes[op]);
	else if (type->is_signed || type->bytes < 8)
		rpn_emit_op(rpn, RPN_div);
	else
		emit_divide_unsigned(rpn);
}

/* Of integers: shifts have the type of what is shifted, a's; others have the
 * same type. */
static bool integer_binary(struct evaluation *e, struct srcpos pos,
			   enum expr_op op, struct value *a,
			   const struct value *b)
{
	struct bytes rpn = {0};

	if ((op == EXPR_DIV || op == EXPR_MOD) && b->kind == VALUE_CONSTANT &&
	    !b->number) {
		diag_report(e->c->diag, pos, TRCERR_UNSUPPORTED,
			    "division by zero");
		e->code = 1;
		return false;
	}
	if (a->kind == VALUE_CONSTANT && b->kind == VALUE_CONSTANT) {
		a->number = fold(op, &a->type, a->number, b->number);
		value_cut(a, a->type.bytes, a->type.is_signed);
		return true;
	}
	value_push(a, &rpn);
	if (op == EXPR_DIV && !a->type.is_signed &&
	    b->kind == VALUE_CONSTANT && !(b->number & (b->number - 1))) {
		rpn_emit_const(&rpn, __builtin_ctzll(b->number));
		rpn_emit_op(&rpn, RPN_shr);
	} else {
		value_push(b, &rpn);
		emit_arithmetic(&rpn, op, &a->type);
	}
	replace_rpn(a, &rpn);
	if (op == EXPR_ADD || op == EXPR_SUB || op == EXPR_MUL ||
	    op == EXPR_SHL)
		value_cut(a, a->type.bytes, a->type.is_signed);
	return true;
}

/* Bytes that a pointer moves by; 1 of void and functions, as gcc has it. */
static bool step_bytes(struct evaluation *e, struct srcpos pos,
		       const struct value *pointer, uint64_t *bytes)
{
	struct value_type target = value_type_target(&pointer->type);
	enum dwarf_type_kind kind = value_type_kind(&target);

	*bytes = 1;
	if (kind == DWARF_TYPE_VOID || kind == DWARF_TYPE_FUNCTION)
		return true;
	return value_type_bytes(e->c, &target, bytes) ||
	       value_report_size(e, pos, &target);
}

/* pointer + or - number */
static bool pointer_move(struct evaluation *e, struct srcpos pos,
			 enum expr_op op, struct value *pointer,
			 const struct value *number)
{
	struct bytes rpn = {0};
	uint64_t bytes;

	if (!step_bytes(e, pos, pointer, &bytes))
		return false;
	value_push(pointer, &rpn);
	if (number->kind == VALUE_CONSTANT) {
		bytes *= number->number;
		rpn_emit_add(&rpn, op == EXPR_ADD ? bytes : -bytes, e->wide);
	} else {
		value_push(number, &rpn);
		if (bytes != 1) {
			rpn_emit_const(&rpn, bytes);
			rpn_emit_op(&rpn, RPN_mul);
		}
		rpn_emit_op(&rpn, op == EXPR_ADD ? RPN_plus : RPN_minus);
		if (!e->wide)
			rpn_emit_extend(&rpn, 4, false);
	}
	replace_rpn(pointer, &rpn);
	return true;
}

static bool pointer_distance(struct evaluation *e, struct srcpos pos,
			     struct value *a, const struct value *b)
{
	struct bytes rpn = {0};
	uint64_t bytes;

	if (!step_bytes(e, pos, a, &bytes))
		return false;
	value_push(a, &rpn);
	value_push(b, &rpn);
	rpn_emit_op(&rpn, RPN_minus);
	if (!e->wide)
		rpn_emit_extend(&rpn, 4, true);
	if (bytes > 1) {
		rpn_emit_const(&rpn, bytes);
		rpn_emit_op(&rpn, RPN_div);
	}
	replace_rpn(a, &rpn);
	a->type = value_type_integer(e->c, e->wide ? 8 : 4, true);
	return true;
}

static bool is_pointer(const struct value *value)
{
	return value_type_kind(&value->type) == DWARF_TYPE_POINTER;
}

static bool are_integers(const struct value *a, const struct value *b)
{
	return value_type_is_integer(&a->type) &&
	       value_type_is_integer(&b->type);
}

static bool is_comparison(enum expr_op op)
{
	return op >= EXPR_LT && op <= EXPR_NE;
}

static bool binary_compute(struct evaluation *e, struct srcpos pos,
			   enum expr_op op, struct value *a, struct value *b)
{
	const char *text = expr_operators[op].text;
	struct value_type type;
	struct value third;

	if (!value_load(e, pos, text, a) || !value_load(e, pos, text, b))
		return false;
	if (is_pointer(a) || is_pointer(b)) {
		type = value_type_integer(e->c, e->wide ? 8 : 4, false);
		if (is_comparison(op)) {
			value_convert(e, a, &type);
			value_convert(e, b, &type);
			value_compare(e, op, a, b);
			return true;
		}
		if (op == EXPR_SUB && is_pointer(a) && is_pointer(b))
			return pointer_distance(e, pos, a, b);
		if (op == EXPR_ADD && is_pointer(b) && !is_pointer(a)) {
			third = *a;
			*a = *b;
			*b = third;
		}
		if ((op != EXPR_ADD && op != EXPR_SUB) || is_pointer(b) ||
		    !is_pointer(a))
			return value_refuse(e, pos, text, a, b);
		return pointer_move(e, pos, op, a, b);
	}
	if (!are_integers(a, b))
		return value_refuse(e, pos, text, a, b);
	if (op == EXPR_SHL || op == EXPR_SHR) {
		promote(e, a);
		promote(e, b);
		return integer_binary(e, pos, op, a, b);
	}
	type = usual(e, a, b);
	value_convert(e, a, &type);
	value_convert(e, b, &type);
	if (!is_comparison(op))
		return integer_binary(e, pos, op, a, b);
	value_compare(e, op, a, b);
	return true;
}

bool value_binary(struct evaluation *e, struct srcpos pos, enum expr_op op,
		  struct value *a, struct value *b)
{
	bool computed = binary_compute(e, pos, op, a, b);

	value_free(b);
	memset(b, 0, sizeof(*b));
	return computed;
}

bool value_common(struct evaluation *e, struct srcpos pos,
		  const struct value *a, const struct value *b,
		  struct value_type *type)
{
	if (is_pointer(a) || is_pointer(b)) {
		*type = is_pointer(a) ? a->type : b->type;
		return true;
	}
	if (!are_integers(a, b))
		return value_refuse(e, pos, "?", a, b);
	*type = usual(e, a, b);
	return true;
}

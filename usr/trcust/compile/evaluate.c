// SPDX-License-Identifier: GPL-2.0
/* Expressions as values, bottom up. */
#include "value.h"

#include <stdlib.h>
#include <string.h>
#include "lib/formats/rpn_emit.h"

/* C11 section 6.4.4.4: an int that has the value of a char; C++17 section
 * 5.13.3: a char. */
static void evaluate_character(struct evaluation *e, const struct expr *expr,
			       struct value *value)
{
	const struct expr_type type = { .base = EXPR_BASE_CHAR };
	struct value_type integer = value_type_integer(e->c, 4, true);
	struct value_type character = value_type_base(e->c, &e->site->from,
						      &type);
	Dwarf_Die unit;

	*value = value_constant(character, character.is_signed ?
				(uint64_t)(int8_t)expr->number : expr->number);
	value->pos = expr->pos;
	if (!e->c->dwarf ||
	    !dwarf_unit_find(e->c->dwarf, e->site->from.pc, &unit) ||
	    !dwarf_die_is_cc(&unit))
		value_convert(e, value, &integer);
}

/* C11 section 6.4.4.1: the first type that can hold it. */
static bool evaluate_number(struct evaluation *e, const struct expr *expr,
			    struct value *value)
{
	unsigned int word = e->wide ? 8 : 4;
	unsigned int bytes = expr->literal.longs == 2 ? 8 :
			     expr->literal.longs ? word : 4;
	bool is_signed = !expr->literal.is_unsigned;
	bool either = !expr->literal.decimal;

	for (;; bytes *= 2) {
		unsigned int bits = 8 * bytes;

		if (is_signed && !(expr->number >> (bits - 1)))
			break;
		if ((!is_signed || either || bytes == 8) &&
		    (bytes == 8 || !(expr->number >> bits))) {
			is_signed = false;
			break;
		}
	}
	*value = value_constant(value_type_integer(e->c, bytes, is_signed),
				expr->number);
	value->pos = expr->pos;
	return true;
}

/* a as its elements' pointer or array, b as a number of elements. */
static bool index_compute(struct evaluation *e, struct srcpos pos,
			  struct value *a, struct value *b)
{
	struct value_type element = value_type_target(&a->type);
	uint64_t bytes;
	int64_t bits;

	if (a->kind == VALUE_PLACE && b->kind == VALUE_CONSTANT &&
	    value_type_kind(&a->type) == DWARF_TYPE_ARRAY) {
		if (!value_type_bytes(e->c, &element, &bytes))
			return value_report_size(e, pos, &element);
		if (!__builtin_mul_overflow(b->number, 8 * bytes, &bits) &&
		    bits >= 0) {
			value_narrow(a, &element, bits, 0);
			return true;
		}
	}
	return value_binary(e, pos, EXPR_ADD, a, b) &&
	       value_dereference(e, pos, "[]", a);
}

static bool is_indexed(const struct value *value)
{
	enum dwarf_type_kind kind = value_type_kind(&value->type);

	return kind == DWARF_TYPE_ARRAY || kind == DWARF_TYPE_POINTER;
}

static bool evaluate_index(struct evaluation *e, const struct expr *expr,
			   struct value *value)
{
	struct value index = {0};
	bool done = evaluate(e, expr->a, value) &&
		    evaluate(e, expr->b, &index) &&
		    value_load(e, expr->pos, "[]",
			       is_indexed(value) ? &index : value);

	if (done && !is_indexed(value) && is_indexed(&index)) {
		struct value third = *value;	/* 1[a] is a[1] */

		*value = index;
		index = third;
	}
	if (done && (!is_indexed(value) || is_indexed(&index)))
		done = value_refuse(e, expr->pos, "[]", value, &index);
	done = done && index_compute(e, expr->pos, value, &index);
	value_free(&index);
	return done;
}

static bool evaluate_unary(struct evaluation *e, const struct expr *expr,
			   struct value *value)
{
	const char *arrow = expr->name;

	if (!evaluate(e, expr->a, value))
		return false;
	switch (expr->op) {
	case EXPR_DEREF:
		if (value_dereference(e, expr->pos, arrow ? arrow : "*", value))
			return true;
		if (arrow &&
		    (value_type_kind(&value->type) == DWARF_TYPE_STRUCT ||
		     value_type_kind(&value->type) == DWARF_TYPE_UNION))
			diag_hint(e->c->diag, "it is no pointer: '.'");
		return false;
	case EXPR_ADDRESS:
		return value_address(e, expr->pos, value);
	default:
		return value_unary(e, expr->pos, expr->op, value);
	}
}

/* What is 0 or not; a pointer, too. */
static bool evaluate_test(struct evaluation *e, const struct expr *expr,
			  const struct expr *operand, struct value *value)
{
	return evaluate(e, operand, value) &&
	       value_load(e, expr->pos,
			  expr->kind == EXPR_CHOICE ? "?" :
				expr_operators[expr->op].text, value);
}

/* ... as an int that is 0 or 1. */
static bool evaluate_truth(struct evaluation *e, const struct expr *expr,
			   const struct expr *operand, struct value *value)
{
	struct value zero = value_constant(value_type_integer(e->c, 4, true),
					   0);

	return evaluate_test(e, expr, operand, value) &&
	       value_binary(e, expr->pos, EXPR_NE, value, &zero);
}

/* If what is on the stack is 0 `otherwise` is evaluated, else `then`; nothing
 * of the other one. */
static void emit_choice(struct bytes *rpn, const struct value *then,
			const struct value *otherwise)
{
	struct bytes first = {0}, second = {0};

	value_push(otherwise, &first);
	value_push(then, &second);
	rpn_emit_op(rpn, RPN_bra);
	rpn_emit_fixed(rpn, first.size + 3, 2);
	bytes_join(rpn, &first);
	rpn_emit_op(rpn, RPN_skip);
	rpn_emit_fixed(rpn, second.size, 2);
	bytes_join(rpn, &second);
	rpn->failed |= first.failed || second.failed ||
		       first.size > INT16_MAX - 3 || second.size > INT16_MAX;
	bytes_free(&first);
	bytes_free(&second);
}

/* An operand that a constant test leaves out has a type only. */
static bool evaluate_operand(struct evaluation *e, const struct expr *operand,
			     bool left_out, struct value *value)
{
	bool unread = e->unread, done;

	e->unread |= left_out;
	done = evaluate(e, operand, value) &&
	       value_load(e, operand->pos, "?", value);
	e->unread = unread;
	return done;
}

/* test becomes test ? then : otherwise; a constant one chooses now. */
static void choose(struct value *test, struct value *then,
		   struct value *otherwise)
{
	struct value *chosen = test->number ? then : otherwise;

	if (test->kind == VALUE_CONSTANT) {
		value_free(test);
		*test = *chosen;
		*chosen = (struct value){0};
		return;
	}
	emit_choice(&test->rpn, then, otherwise);
	test->type = then->type;
	test->bits = 0;
}

/* a && b is a ? b != 0 : 0, a || b is a ? 1 : b != 0. */
static bool evaluate_logical(struct evaluation *e, const struct expr *expr,
			     struct value *value)
{
	bool is_and = expr->op == EXPR_ANDAND, unread = e->unread, done;
	struct value right = {0}, known;

	done = evaluate_test(e, expr, expr->a, value);
	if (done && value->kind == VALUE_CONSTANT)
		e->unread |= !value->number == is_and;
	done = done && evaluate_truth(e, expr, expr->b, &right);
	e->unread = unread;
	known = value_constant(value_type_integer(e->c, 4, true), !is_and);
	if (done && is_and)
		choose(value, &right, &known);
	else if (done)
		choose(value, &known, &right);
	value_free(&right);
	return done;
}

static bool load_both(struct evaluation *e, const struct expr *expr,
		      const struct value *test, struct value *then,
		      struct value *otherwise)
{
	bool known = test->kind == VALUE_CONSTANT;
	struct value_type type;

	if (!evaluate_operand(e, expr->b, known && !test->number, then) ||
	    !evaluate_operand(e, expr->c, known && test->number, otherwise) ||
	    !value_common(e, expr->pos, then, otherwise, &type))
		return false;
	value_convert(e, then, &type);
	value_convert(e, otherwise, &type);
	return true;
}

static bool evaluate_choice(struct evaluation *e, const struct expr *expr,
			    struct value *value)
{
	struct value then = {0}, otherwise = {0};
	bool done = evaluate_test(e, expr, expr->a, value) &&
		    load_both(e, expr, value, &then, &otherwise);

	if (done)
		choose(value, &then, &otherwise);
	value_free(&then);
	value_free(&otherwise);
	return done;
}

static bool evaluate_binary(struct evaluation *e, const struct expr *expr,
			    struct value *value)
{
	struct value right = {0};
	bool done;

	if (expr->op == EXPR_ANDAND || expr->op == EXPR_OROR)
		return evaluate_logical(e, expr, value);
	done = evaluate(e, expr->a, value) && evaluate(e, expr->b, &right) &&
	       value_binary(e, expr->pos, expr->op, value, &right);
	value_free(&right);
	return done;
}

/* To a struct or union of the same bytes: the place stays, as does that of a
 * value whose type is only named differently. */
static bool evaluate_cast(struct evaluation *e, const struct expr *expr,
			  struct value *value)
{
	struct value_type type;
	uint64_t bytes;

	if (!evaluate_type(e, expr->type, &type) ||
	    !evaluate(e, expr->a, value))
		return false;
	if (!value_type_is_scalar(&type)) {
		char *text = value_type_spell(&type);

		if (!text)
			return value_report_memory(e, expr->pos);
		diag_report(e->c->diag, expr->pos, TRCERR_BADOPERAND, "cast",
			    text);
		diag_hint(e->c->diag, "integers, enumerations and pointers: "
				      "*(%s *)&x takes the bytes as they are",
			  text);
		free(text);
		e->code = 1;
		return false;
	}
	if (!value_scalar_bytes(e, expr->pos, &type, &bytes) ||
	    !value_load(e, expr->pos, "cast", value))
		return false;
	value_convert(e, value, &type);
	return true;
}

static bool sizeof_type(struct evaluation *e, const struct expr *expr,
			struct value_type *type)
{
	struct expr_type named = {
		.pos = expr->a ? expr->a->pos : expr->pos,
		.name = expr->a ? expr->a->name : NULL,
	};
	struct value value = {0};
	bool unread = e->unread, done;

	if (expr->type)
		return evaluate_type(e, expr->type, type);
	if (expr->a->kind == EXPR_NAME && e->c->dwarf &&
	    !evaluate_is_variable(e, named.name))
		return evaluate_type(e, &named, type);
	e->unread = true;
	done = evaluate(e, expr->a, &value);
	e->unread = unread;
	*type = value.type;
	if (done && value.bits)
		done = value_refuse(e, expr->pos, "sizeof", &value, NULL);
	value_free(&value);
	return done;
}

static bool evaluate_sizeof(struct evaluation *e, const struct expr *expr,
			    struct value *value)
{
	struct value_type type;
	uint64_t bytes;

	if (!sizeof_type(e, expr, &type))
		return false;
	if (!value_type_bytes(e->c, &type, &bytes))
		return value_report_size(e, expr->pos, &type);
	*value = value_constant(value_type_integer(e->c, e->wide ? 8 : 4,
						   false), bytes);
	value->pos = expr->pos;
	return true;
}

bool evaluate(struct evaluation *e, const struct expr *expr,
	      struct value *value)
{
	memset(value, 0, sizeof(*value));
	value->name = "";
	switch (expr->kind) {
	case EXPR_NAME:
		return evaluate_variable(e, expr, value);
	case EXPR_REGISTER:
		return evaluate_register(e, expr, value);
	case EXPR_ARGUMENT:
		return evaluate_argument(e, expr, value);
	case EXPR_NUMBER:
		if (!expr->literal.character)
			return evaluate_number(e, expr, value);
		evaluate_character(e, expr, value);
		return true;
	case EXPR_MEMBER:
		return evaluate_member(e, expr, value);
	case EXPR_INDEX:
		return evaluate_index(e, expr, value);
	case EXPR_UNARY:
		return evaluate_unary(e, expr, value);
	case EXPR_BINARY:
		return evaluate_binary(e, expr, value);
	case EXPR_CHOICE:
		return evaluate_choice(e, expr, value);
	case EXPR_CAST:
		return evaluate_cast(e, expr, value);
	case EXPR_SIZEOF:
		return evaluate_sizeof(e, expr, value);
	case EXPR_EITHER:
		return evaluate(e, evaluate_is_variable(e, expr->name) ?
					   expr->b : expr->a, value);
	}
	return false;
}

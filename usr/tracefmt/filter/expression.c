// SPDX-License-Identifier: GPL-2.0
#include "expression.h"

#include <stdlib.h>
#include <string.h>
#include "operand.h"

struct expression_bound {
	struct expression *e;
	bool wants_data;
	struct operand operands[];	/* one for each name */
};

struct term_evaluation {
	const struct expression_bound *bound;
	struct operand_source source;
};

static struct term term_evaluate(struct term_evaluation *ev, uint32_t node);

struct expression_bound *expression_bind(struct expression *e,
					 const struct match_point *point)
{
	struct expression_bound *bound;

	bound = calloc(1, sizeof(*bound) +
		       e->name_count * sizeof(*bound->operands));
	if (!bound)
		return NULL;
	bound->e = e;
	for (size_t i = 0; i < e->name_count; i++) {
		bound->operands[i] = operand_bind(&e->names[i], point);
		bound->wants_data |= bound->operands[i].field &&
				     !bound->operands[i].builtin;
	}
	return bound;
}

void expression_unbind(struct expression_bound *bound)
{
	free(bound);
}

bool expression_wants_data(const struct expression_bound *bound)
{
	return bound->wants_data;
}

int expression_report(const struct expression *e, size_t i, struct error *note)
{
	const struct expression_name *name = &e->names[i];

	if (i >= e->name_count)
		return -1;
	if (!name->builtin == name->found)
		return 0;
	if (name->builtin) {
		error_set(note, 0, "'%s' in --field is not the field of that name",
			  name->text);
		error_hint(note, "the field is '.%s'", name->text);
	} else {
		error_set(note, 0, "no event has the field '%s' of --field",
			  name->text);
		error_hint(note, "--format=json shows the fields' names; strings are in quotes");
		return 2;
	}
	return 1;
}

/* ---- values ---- */

static struct term missing(void)
{
	return (struct term){ .kind = TERM_MISSING };
}

static struct term term_integer(__int128 number)
{
	return (struct term){ .kind = TERM_INTEGER, .i = number };
}

static struct term real(double f)
{
	return (struct term){ .kind = TERM_REAL, .f = f };
}

static bool truth(const struct term *value)
{
	switch (value->kind) {
	case TERM_MISSING:
		return false;
	case TERM_INTEGER:
		return value->i != 0;
	case TERM_REAL:
		return value->f != 0;
	case TERM_STRING:
		return value->length != 0;
	default:
		return true;
	}
}

static bool term_is_number(const struct term *value)
{
	return value->kind == TERM_INTEGER || value->kind == TERM_REAL;
}

static double real_of(const struct term *value)
{
	return value->kind == TERM_REAL ? value->f : (double)value->i;
}

/* ---- comparing ---- */

static bool order_holds(enum expression_op op, int order)
{
	switch (op) {
	case OP_EQUAL:
		return !order;
	case OP_UNEQUAL:
		return order;
	case OP_LESS:
		return order < 0;
	case OP_LESS_EQUAL:
		return order <= 0;
	case OP_GREATER:
		return order > 0;
	default:
		return order >= 0;
	}
}

static bool numbers_compare(enum expression_op op, const struct term *a,
			    const struct term *b)
{
	double x, y;

	if (a->kind == TERM_INTEGER && b->kind == TERM_INTEGER)
		return order_holds(op, a->i < b->i ? -1 : a->i > b->i);
	x = real_of(a);
	y = real_of(b);
	if (x != x || y != y)
		return op == OP_UNEQUAL;
	return order_holds(op, x < y ? -1 : x > y);
}

static bool strings_compare(enum expression_op op, const struct term *a,
			    const struct term *b)
{
	size_t n = a->length < b->length ? a->length : b->length;
	int order = n ? memcmp(a->data, b->data, n) : 0;

	return order_holds(op, order ? order :
			   a->length < b->length ? -1 : a->length > b->length);
}

/* A number with a string: by its name or digits, and only for equality. */
static struct term terms_compare(struct term_evaluation *ev,
				 enum expression_op op, const struct term *a,
				 const struct term *b)
{
	struct text *texts = ev->bound->e->texts;
	struct term x, y;

	if (!a->kind || !b->kind)
		return term_integer(false);
	if (term_is_number(a) && term_is_number(b))
		return term_integer(numbers_compare(op, a, b));
	if ((term_is_number(a) || term_is_number(b)) && op != OP_EQUAL &&
	    op != OP_UNEQUAL)
		return term_integer(false);
	x = operand_text(a, &ev->source, &texts[0]);
	y = operand_text(b, &ev->source, &texts[1]);
	return term_integer(x.kind && y.kind && strings_compare(op, &x, &y));
}

static struct term match(struct term_evaluation *ev,
			 const struct expression_node *node)
{
	const regex_t *regex = ev->bound->e->nodes[node->b].regex;
	struct term a = term_evaluate(ev, node->a);
	struct text *texts = ev->bound->e->texts;
	regmatch_t range = { 0 };
	bool matches;

	a = operand_text(&a, &ev->source, &texts[0]);
	/* with a zero at the end, whatever regexec() makes of REG_STARTEND */
	if (!a.kind || text_reserve(&texts[1], a.length + 1))
		return term_integer(false);
	if (a.length)
		memcpy(texts[1].data, a.data, a.length);
	texts[1].data[a.length] = '\0';
	range.rm_eo = a.length;
	matches = !regexec(regex, texts[1].data, 1, &range, REG_STARTEND);
	return term_integer(matches == (node->op == OP_MATCH));
}

/* ---- computing ---- */

static struct term reals_compute(enum expression_op op, double a, double b)
{
	switch (op) {
	case OP_PLUS:
		return real(a + b);
	case OP_SUBTRACT:
		return real(a - b);
	case OP_TIMES:
		return real(a * b);
	case OP_DIVIDE:
		return b == 0 ? missing() : real(a / b);
	default:
		return missing();
	}
}

static unsigned __int128 magnitude(__int128 a)
{
	return a < 0 ? -(unsigned __int128)a : (unsigned __int128)a;
}

/* clang calls a function of compiler-rt for __builtin_mul_overflow(), which
 * isn't everywhere. The least number counts as too large. */
static bool multiply_overflows(__int128 a, __int128 b, __int128 *product)
{
	unsigned __int128 x = magnitude(a), y = magnitude(b);
	unsigned __int128 large = x > y ? x : y, small = x > y ? y : x;
	unsigned __int128 high = (large >> 64) * small;
	unsigned __int128 low = (uint64_t)large * small;
	unsigned __int128 sum = low + (high << 64);

	if (small >> 64 || high >> 64 || sum < low || sum >> 127)
		return true;
	*product = (a < 0) != (b < 0) ? -(__int128)sum : (__int128)sum;
	return false;
}

/* What is too large for 128 bits is missing. */
static struct term integers_compute(enum expression_op op, __int128 a,
				    __int128 b)
{
	bool over = false;
	__int128 c = 0;
	__int128 negative;

	switch (op) {
	case OP_BIT_OR:
		return term_integer(a | b);
	case OP_BIT_XOR:
		return term_integer(a ^ b);
	case OP_BIT_AND:
		return term_integer(a & b);
	case OP_LEFT:
	case OP_RIGHT:
		if (b < 0 || b > 63)
			return missing();
		return term_integer(op == OP_RIGHT ? a >> (int)b :
				    (__int128)((unsigned __int128)a << (int)b));
	case OP_DIVIDE:
	case OP_MODULO:
		if (!b || (b == -1 &&
			   __builtin_sub_overflow((__int128)0, a, &negative)))
			return missing();
		return term_integer(op == OP_DIVIDE ? a / b : a % b);
	case OP_PLUS:
		over = __builtin_add_overflow(a, b, &c);
		break;
	case OP_SUBTRACT:
		over = __builtin_sub_overflow(a, b, &c);
		break;
	default:
		over = multiply_overflows(a, b, &c);
	}
	return over ? missing() : term_integer(c);
}

static struct term terms_compute(enum expression_op op, const struct term *a,
		       const struct term *b)
{
	if (!term_is_number(a) || !term_is_number(b))
		return missing();
	if (a->kind == TERM_INTEGER && b->kind == TERM_INTEGER)
		return integers_compute(op, a->i, b->i);
	return reals_compute(op, real_of(a), real_of(b));
}

static struct term unary(enum expression_op op, const struct term *a)
{
	if (op == OP_NOT)
		return a->kind ? term_integer(!truth(a)) : missing();
	if (op == OP_MINUS && a->kind == TERM_REAL)
		return real(-a->f);
	if (a->kind != TERM_INTEGER)
		return missing();
	return op == OP_MINUS ? integers_compute(OP_SUBTRACT, 0, a->i) :
				term_integer(~a->i);
}

/* ---- the tree ---- */

static struct term term_evaluate(struct term_evaluation *ev, uint32_t index)
{
	const struct expression_node *node = &ev->bound->e->nodes[index];
	struct term a;
	struct term b;

	switch (node->op) {
	case OP_NUMBER:
		return term_integer(node->number);
	case OP_FLOAT:
		return real(node->real);
	case OP_STRING:
		return (struct term){
			.kind = TERM_STRING,
			.data = (const uint8_t *)node->text,
			.length = node->length,
		};
	case OP_NAME:
		return operand_load(&ev->bound->operands[node->name],
				    &ev->source);
	case OP_NOT:
	case OP_MINUS:
	case OP_INVERT:
		a = term_evaluate(ev, node->a);
		return unary(node->op, &a);
	case OP_OR:
	case OP_AND:
		a = term_evaluate(ev, node->a);
		if (truth(&a) != (node->op == OP_AND))
			return term_integer(node->op == OP_OR);
		a = term_evaluate(ev, node->b);
		return term_integer(truth(&a));
	case OP_MATCH:
	case OP_MATCH_NOT:
		return match(ev, node);
	default:
		a = term_evaluate(ev, node->a);
		b = term_evaluate(ev, node->b);
		return node->op >= OP_EQUAL && node->op <= OP_GREATER_EQUAL ?
			       terms_compare(ev, node->op, &a, &b) :
			       terms_compute(node->op, &a, &b);
	}
}

bool expression_holds(const struct expression_bound *bound,
		      const struct event *event, const struct scratch *scratch,
		      struct symbols *symbols)
{
	struct term_evaluation ev = {
		.bound = bound,
		.source = { event, scratch, symbols },
	};
	struct term value = term_evaluate(&ev, bound->e->root);

	return truth(&value);
}

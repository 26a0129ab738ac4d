// SPDX-License-Identifier: GPL-2.0
/*
 * C expressions (C11 section 6.5 without calls and assignments). Whether a
 * name is a type can't be known here: where the tree depends on it, both are
 * made (EXPR_EITHER).
 */
#include "parse_expr.h"

#include <stdlib.h>
#include <string.h>

/* A place to come back to. */
struct expr_state {
	struct lexer lexer;
	struct token token;
	struct srcpos last;
	bool last_names;
	size_t text;
	const char *end;
};

void expr_take(struct expr_parser *e)
{
	const struct token *token = &e->p->token;

	if (e->text.size && token->text != e->end)
		bytes_add(&e->text, " ", 1);
	e->end = token->text + token->length;
	bytes_add(&e->text, token->text, token->length);
	parser_next(e->p);
}

bool expr_at(const struct expr_parser *e, const char *marks)
{
	const struct token *token = &e->p->token;
	size_t length = strlen(marks);

	return token->kind == TOKEN_MARK &&
	       (size_t)(e->p->lexer.end - token->text) >= length &&
	       !memcmp(token->text, marks, length);
}

bool expr_take_marks(struct expr_parser *e, const char *marks)
{
	if (!expr_at(e, marks))
		return false;
	for (; *marks; marks++)
		expr_take(e);
	return true;
}

static bool expr_expect(struct expr_parser *e, const char *mark)
{
	return expr_take_marks(e, mark) || parser_missing(e->p, mark);
}

static struct expr_state expr_save(const struct expr_parser *e)
{
	return (struct expr_state){
		.lexer = e->p->lexer,
		.token = e->p->token,
		.last = e->p->last,
		.last_names = e->p->last_names,
		.text = e->text.size,
		.end = e->end,
	};
}

static void expr_restore(struct expr_parser *e,
			 const struct expr_state *state)
{
	e->p->lexer = state->lexer;
	e->p->token = state->token;
	e->p->last = state->last;
	e->p->last_names = state->last_names;
	e->text.size = state->text;
	e->end = state->end;
}

struct expr *expr_node(struct expr_parser *e, enum expr_kind kind,
		       struct srcpos pos)
{
	struct expr *expr = tsf_alloc(e->p->tsf, sizeof(*expr));

	if (!expr) {
		parser_report(e->p, pos, TRCERR_NO_MEM);
		return NULL;
	}
	if (++e->nodes > EXPR_NODES_MAX) {
		parser_report(e->p, pos, TRCERR_UNSUPPORTED,
			      "an expression of this length");
		return NULL;
	}
	expr->kind = kind;
	expr->pos = pos;
	return expr;
}

static bool append_word(struct expr_parser *e, const char **name)
{
	if (e->p->token.kind != TOKEN_WORD)
		return parser_missing(e->p, "name");
	*name = parser_format(e->p, "%s%s", *name,
			      parser_text(e->p, &e->p->token));
	expr_take(e);
	return true;
}

bool expr_qualified(struct expr_parser *e, const char **name)
{
	*name = expr_at(e, "::") ? "::" : "";
	expr_take_marks(e, "::");
	if (!append_word(e, name))
		return false;
	while (expr_take_marks(e, "::")) {
		*name = parser_format(e->p, "%s::", *name);
		if (!append_word(e, name))
			return false;
	}
	return true;
}

static struct expr *parse_variable(struct expr_parser *e)
{
	struct expr *expr = expr_node(e, EXPR_NAME, e->p->token.pos);

	if (!expr || !expr_qualified(e, &expr->name))
		return NULL;
	expr->pos = parser_span(e->p, expr->pos);
	return expr;
}

/* 'c', 'file.c'::name, or a name that has other characters in it */
static struct expr *parse_quoted(struct expr_parser *e)
{
	struct token inner = e->p->token;
	struct expr *expr;
	const char *name;
	uint64_t value;

	if (!expr_quoted_token(e))
		return NULL;
	inner.text++;
	inner.length = e->p->token.length - 2;
	expr = expr_node(e, EXPR_NAME, inner.pos);
	expr_take(e);
	if (!expr)
		return NULL;
	expr->name = parser_text(e->p, &inner);
	if (expr_take_marks(e, "::")) {
		if (!expr_qualified(e, &name))
			return NULL;
		expr->name = parser_format(e->p, "%s:%s", expr->name, name);
	} else if (expr_quoted_character(inner.text,
					 inner.text + inner.length, &value)) {
		expr = expr_number(e, inner.pos, value);
		if (expr)
			expr->literal.character = true;
		return expr;
	} else if (!*expr->name) {
		parser_report(e->p, inner.pos, TRCERR_BADSYMBOL, "''");
		return NULL;
	}
	expr->pos = parser_span(e->p, expr->pos);
	return expr;
}

/* $argN, or $ and a register */
static struct expr *parse_dollar(struct expr_parser *e)
{
	const char *name = parser_text(e->p, &e->p->token);
	struct expr *expr = expr_node(e, EXPR_REGISTER, e->p->token.pos);
	char *end;

	if (!expr)
		return NULL;
	expr->name = name + 1;
	if (!strncmp(name, "$arg", 4) && name[4] >= '1' && name[4] <= '9') {
		expr->kind = EXPR_ARGUMENT;
		expr->number = strtoul(name + 4, &end, 10);
		if (*end)
			expr->kind = EXPR_REGISTER;
	}
	expr_take(e);
	return expr;
}

static struct expr *parse_choice(struct expr_parser *e);

static struct expr *parse_primary(struct expr_parser *e)
{
	const struct token *token = &e->p->token;
	struct expr *expr;

	if (token->kind == TOKEN_NUMBER)
		return expr_literal(e);
	if (token->kind == TOKEN_WORD && *token->text == '$')
		return parse_dollar(e);
	if ((token->kind == TOKEN_WORD && !expr_at_type(e) &&
	     !parser_at_trace(e->p)) || expr_at(e, "::"))
		return parse_variable(e);
	if (expr_at(e, "'"))
		return parse_quoted(e);
	if (token->kind == TOKEN_STRING) {
		parser_report(e->p, token->pos, TRCERR_UNSUPPORTED,
			      "strings in expressions");
		diag_hint(e->p->diag, "characters can be compared: why[0] == "
			  "'s'; tracefmt --field chooses by strings");
		return NULL;
	}
	if (!expr_take_marks(e, "(")) {
		parser_missing(e->p, "expression");
		return NULL;
	}
	expr = parse_choice(e);
	return expr && expr_expect(e, ")") ? expr : NULL;
}

/* .name of what a is */
static struct expr *parse_member(struct expr_parser *e, struct expr *a)
{
	struct expr *expr = expr_node(e, EXPR_MEMBER, e->p->token.pos);

	if (!expr || !expr_qualified(e, &expr->name))
		return NULL;
	expr->a = a;
	expr->pos = parser_span(e->p, expr->pos);
	return expr;
}

static struct expr *node_unary(struct expr_parser *e, enum expr_op op,
			       struct srcpos pos, struct expr *a)
{
	struct expr *expr = a ? expr_node(e, EXPR_UNARY, pos) : NULL;

	if (!expr)
		return NULL;
	expr->op = op;
	expr->a = a;
	return expr;
}

static struct expr *parse_index(struct expr_parser *e, struct expr *a,
				struct srcpos pos)
{
	struct expr *expr = expr_node(e, EXPR_INDEX, pos);

	if (!expr)
		return NULL;
	expr->a = a;
	expr->b = parse_choice(e);
	return expr->b && expr_expect(e, "]") ? expr : NULL;
}

static bool refuse_effects(struct expr_parser *e)
{
	if (!expr_at(e, "++") && !expr_at(e, "--"))
		return false;
	parser_report(e->p, e->p->token.pos, TRCERR_UNSUPPORTED,
		      "'++' and '--', which change a variable");
	return true;
}

static struct expr *parse_postfix(struct expr_parser *e)
{
	struct expr *expr = parse_primary(e);
	struct srcpos pos;

	while (expr) {
		pos = e->p->token.pos;
		if (expr_take_marks(e, "->")) {
			expr = node_unary(e, EXPR_DEREF, pos, expr);
			if (expr) {
				expr->name = "->";
				expr->pos.length = 2;
				expr = parse_member(e, expr);
			}
		} else if (expr_at(e, ".") && expr->kind == EXPR_NUMBER) {
			parser_report(e->p, expr->pos, TRCERR_UNSUPPORTED,
				      "floating point in expressions");
			return NULL;
		} else if (expr_take_marks(e, ".")) {
			expr = parse_member(e, expr);
		} else if (expr_take_marks(e, "[")) {
			expr = parse_index(e, expr, pos);
		} else if (expr_at(e, "(")) {
			parser_report(e->p, pos, TRCERR_UNSUPPORTED,
				      "calls in expressions");
			diag_hint(e->p->diag, "a probe calls no function of "
				  "the program");
			return NULL;
		} else {
			return refuse_effects(e) ? NULL : expr;
		}
	}
	return NULL;
}

static struct expr *parse_unary(struct expr_parser *e);

/* Behind "(type)", or behind "(name)" where that may be a type. */
static struct expr *parse_cast(struct expr_parser *e,
			       const struct expr_type *type)
{
	struct expr *expr = expr_node(e, EXPR_CAST, type->pos);

	if (!expr)
		return NULL;
	expr->type = type;
	expr->a = parse_unary(e);
	return expr->a ? expr : NULL;
}

/* What follows "(name)" can be an operand of a cast only... */
static bool at_operand(const struct expr_parser *e)
{
	return e->p->token.kind == TOKEN_WORD ||
	       e->p->token.kind == TOKEN_NUMBER || expr_at(e, "(") ||
	       expr_at(e, "~") || expr_at(e, "'") || expr_at(e, "::") ||
	       (expr_at(e, "!") && !expr_at(e, "!="));
}

/* ... or of an operation as well. */
static bool at_either(const struct expr_parser *e)
{
	return (expr_at(e, "-") && !expr_at(e, "->")) || expr_at(e, "+") ||
	       expr_at(e, "*") || (expr_at(e, "&") && !expr_at(e, "&&"));
}

/* "(type)" at a parenthesis; NULL: it isn't, and the place is where it was. */
static const struct expr_type *parse_cast_type(struct expr_parser *e)
{
	struct expr_state before = expr_save(e);
	struct expr_type *type = NULL;
	bool sure = false;

	expr_take(e);
	if (expr_type_parse(e, &type, &sure) && expr_take_marks(e, ")")) {
		if (sure || at_operand(e))
			return type;
		if (at_either(e)) {
			if (!e->either)
				e->either = type;
			if (!e->as_variables)
				return type;
		}
	}
	if (!e->p->aborted)
		expr_restore(e, &before);
	return NULL;
}

/* sizeof (name) is a name for now; sizeof (type)x takes (type) alone. */
static struct expr *parse_sizeof(struct expr_parser *e)
{
	struct expr *expr = expr_node(e, EXPR_SIZEOF, e->p->token.pos);
	struct expr_state before;
	struct expr_type *type = NULL;
	bool sure = false;

	if (!expr)
		return NULL;
	expr_take(e);
	before = expr_save(e);
	if (expr_take_marks(e, "(") && expr_type_parse(e, &type, &sure) &&
	    sure && expr_take_marks(e, ")")) {
		expr->type = type;
		return expr;
	}
	if (e->p->aborted)
		return NULL;
	expr_restore(e, &before);
	expr->a = expr_at(e, "(") ? parse_postfix(e) : parse_unary(e);
	return expr->a ? expr : NULL;
}

static struct expr *parse_operand(struct expr_parser *e)
{
	const struct expr_type *type;
	struct srcpos pos = e->p->token.pos;

	if (parser_at(e->p, "sizeof"))
		return parse_sizeof(e);
	if (expr_at(e, "(")) {
		type = parse_cast_type(e);
		if (type)
			return parse_cast(e, type);
	}
	if (refuse_effects(e))
		return NULL;
	for (int op = EXPR_DEREF; op < EXPR_OP_COUNT; op++)
		if (!expr_at(e, "&&") &&
		    expr_take_marks(e, expr_operators[op].text))
			return node_unary(e, op, pos, parse_unary(e));
	return parse_postfix(e);
}

static struct expr *parse_unary(struct expr_parser *e)
{
	struct expr *expr;

	if (e->nesting == EXPR_NESTING_MAX) {
		parser_report(e->p, e->p->token.pos, TRCERR_UNSUPPORTED,
			      "an expression of this depth");
		diag_hint(e->p->diag, "a cast or parentheses fewer will do");
		return NULL;
	}
	e->nesting++;
	expr = parse_operand(e);
	e->nesting--;
	return expr;
}

/* The longest binary operator that stands here. */
static bool at_binary(const struct expr_parser *e, enum expr_op *op)
{
	size_t best = 0;

	for (int i = 0; i < EXPR_BINARY_COUNT; i++) {
		size_t length = strlen(expr_operators[i].text);

		if (length > best && expr_at(e, expr_operators[i].text)) {
			best = length;
			*op = i;
		}
	}
	return best;
}

static struct expr *parse_binary(struct expr_parser *e, int precedence)
{
	struct expr *left = parse_unary(e), *expr;
	enum expr_op op;

	while (left && at_binary(e, &op) &&
	       expr_operators[op].precedence >= precedence) {
		expr = expr_node(e, EXPR_BINARY, e->p->token.pos);
		if (!expr)
			return NULL;
		expr->pos.length = strlen(expr_operators[op].text);
		expr->op = op;
		expr->a = left;
		expr_take_marks(e, expr_operators[op].text);
		expr->b = parse_binary(e, expr_operators[op].precedence + 1);
		left = expr->b ? expr : NULL;
	}
	return left;
}

static struct expr *parse_choice_else(struct expr_parser *e, struct expr *test,
				      struct srcpos pos)
{
	struct expr *expr = expr_node(e, EXPR_CHOICE, pos);

	if (!expr)
		return NULL;
	expr->a = test;
	expr->b = parse_choice(e);
	if (!expr->b || !expr_expect(e, ":"))
		return NULL;
	expr->c = parse_choice(e);
	return expr->c ? expr : NULL;
}

static struct expr *parse_choice(struct expr_parser *e)
{
	struct expr *expr;
	struct srcpos pos;

	if (e->nesting == EXPR_NESTING_MAX)
		return parse_unary(e);	/* tells */
	e->nesting++;
	expr = parse_binary(e, 1);
	pos = e->p->token.pos;
	if (expr && expr_take_marks(e, "?"))
		expr = parse_choice_else(e, expr, pos);
	e->nesting--;
	if (expr && expr_at(e, "=")) {
		parser_missing(e->p, "==");
		return NULL;
	}
	return expr;
}

/* Again, with the doubtful names as variables. */
static struct expr *parse_either(struct expr_parser *e, struct expr *as_types,
				 const struct expr_state *start)
{
	struct expr *expr = expr_node(e, EXPR_EITHER, e->either->pos);

	if (!expr)
		return NULL;
	expr_restore(e, start);
	e->as_variables = true;
	e->nodes = 0;
	expr->name = e->either->name;
	expr->a = as_types;
	expr->b = parse_choice(e);
	return expr->b ? expr : NULL;
}

bool parse_expr(struct parser *p, const struct expr **expr, const char **text)
{
	struct expr_parser e = { .p = p };
	struct expr_state start = expr_save(&e);
	struct expr *result = parse_choice(&e);
	bool parsed = false;

	if (result && e.either)
		result = parse_either(&e, result, &start);
	if (e.text.failed)
		parser_report(p, start.token.pos, TRCERR_NO_MEM);
	else if (result)
		parsed = true;
	*expr = result;
	if (parsed && text)
		*text = parser_format(p, "%.*s", (int)e.text.size,
				      (const char *)e.text.data);
	bytes_free(&e.text);
	return parsed && !p->aborted;
}

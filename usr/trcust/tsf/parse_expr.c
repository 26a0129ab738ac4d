// SPDX-License-Identifier: GPL-2.0
/*
 * C expressions (C11 section 6.5 without calls and assignments). Whether a
 * name is a type can't be known here: where the tree depends on it, both are
 * made (EXPR_EITHER).
 */
#include "parse_expr.h"

#include <stdlib.h>
#include <string.h>

#define EXPR_TEXT_MAX	64	/* characters that are compared */

struct expr_parser {
	struct parser *p;
	struct bytes text;	/* of the tokens taken */
	const char *end;	/* of the last one, in the TSF */
	unsigned int nodes, nesting;
	bool as_variables;	/* a doubtful "(name)" is no cast */
	const struct expr_type *either;	/* the first doubtful one; NULL */
};

/* A place to come back to. */
struct expr_state {
	struct lexer lexer;
	struct token token;
	struct srcpos last;
	bool last_names;
	size_t text;
	const char *end;
};

/* Take the token, keeping its text. */
static void expr_take(struct expr_parser *e)
{
	const struct token *token = &e->p->token;

	if (e->text.size && token->text != e->end)
		bytes_add(&e->text, " ", 1);
	e->end = token->text + token->length;
	bytes_add(&e->text, token->text, token->length);
	parser_next(e->p);
}

/* These marks are here, without blanks between. */
static bool expr_at(const struct expr_parser *e, const char *marks)
{
	const struct token *token = &e->p->token;
	size_t length = strlen(marks);

	return token->kind == TOKEN_MARK &&
	       (size_t)(e->p->lexer.end - token->text) >= length &&
	       !memcmp(token->text, marks, length);
}

static bool expr_take_marks(struct expr_parser *e, const char *marks)
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

static void expr_restore(struct expr_parser *e, const struct expr_state *state)
{
	e->p->lexer = state->lexer;
	e->p->token = state->token;
	e->p->last = state->last;
	e->p->last_names = state->last_names;
	e->text.size = state->text;
	e->end = state->end;
}

/* NULL: after a message. */
static struct expr *expr_node(struct expr_parser *e, enum expr_kind kind,
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

/* [::]word[::word]...; false: after a message. */
static bool expr_qualified(struct expr_parser *e, const char **name)
{
	*name = "";
	do {
		if (expr_take_marks(e, "::"))
			*name = parser_format(e->p, "%s::", *name);
		if (e->p->token.kind != TOKEN_WORD)
			return parser_missing(e->p, "name");
		*name = parser_format(e->p, "%s%s", *name,
				      parser_text(e->p, &e->p->token));
		expr_take(e);
	} while (expr_at(e, "::"));
	return true;
}

static struct expr *expr_number(struct expr_parser *e, struct srcpos pos,
				uint64_t number)
{
	struct expr *expr = expr_node(e, EXPR_NUMBER, pos);

	if (expr) {
		expr->number = number;
		expr->literal.decimal = true;
	}
	return expr;
}

/* "10ms": a number of ns. False: it is no unit, or there are too many. */
static bool number_unit(const char *p, size_t length, struct expr *expr)
{
	static const struct {
		const char *name;
		uint32_t ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (length == strlen(units[i].name) &&
		    !memcmp(p, units[i].name, length))
			return !__builtin_mul_overflow(expr->number,
						       units[i].ns,
						       &expr->number);
	return false;
}

static bool number_digits(const struct token *token, struct expr *expr)
{
	const char *p = token->text, *end = p + token->length;
	int base = *p == '0' ? 8 : 10, digit;

	expr->literal.decimal = base == 10;
	if (token->length > 2 && base == 8 && (p[1] | 0x20) == 'x') {
		base = 16;
		p += 2;
	}
	for (; p < end; p++) {
		digit = lexer_digit_value(*p);
		if (digit < 0 || digit >= base)
			break;
		if (__builtin_mul_overflow(expr->number, base, &expr->number) ||
		    __builtin_add_overflow(expr->number, digit, &expr->number))
			return false;
	}

	if (expr->literal.decimal && number_unit(p, end - p, expr))
		return true;
	/* C11 section 6.4.4.1: the suffix after the digits */
	for (; p < end; p++) {
		if ((*p == 'u' || *p == 'U') && !expr->literal.is_unsigned) {
			expr->literal.is_unsigned = true;
		} else if ((*p == 'l' || *p == 'L') && !expr->literal.longs) {
			expr->literal.longs = end - p > 1 && p[1] == *p ? 2 : 1;
			p += expr->literal.longs - 1;
		} else {
			return false;
		}
	}
	return true;
}

static struct expr *expr_literal(struct expr_parser *e)
{
	struct expr *expr = expr_number(e, e->p->token.pos, 0);

	if (!expr)
		return NULL;
	if (!number_digits(&e->p->token, expr)) {
		parser_report(e->p, expr->pos, TRCERR_NOTANUMBER,
			      parser_text(e->p, &e->p->token));
		return NULL;
	}
	expr_take(e);
	return expr;
}

/* 'c', 'file.c'::name, or a name that has other characters in it */
static struct expr *parse_quoted(struct expr_parser *e)
{
	struct token *token = &e->p->token, inner = *token;
	const char *at = token->text + 1, *end = e->p->lexer.end, *name;
	struct expr *expr;
	size_t n = 1;
	char c;

	/* The token becomes all from this quote to the next one on the line. */
	for (; at < end && *at != '\'' && *at != '\n'; at++)
		if (*at == '\\' && at + 1 < end && at[1] != '\n')
			at++;
	if (at == end || *at != '\'') {
		parser_missing(e->p, "ending quote");
		return NULL;
	}
	token->length = token->pos.length = at + 1 - token->text;
	e->p->lexer.at = at + 1;
	inner.text++;
	inner.length = token->length - 2;
	expr = expr_node(e, EXPR_NAME, inner.pos);
	expr_take(e);
	if (!expr)
		return NULL;
	expr->name = parser_text(e->p, &inner);
	if (expr_take_marks(e, "::")) {
		if (!expr_qualified(e, &name))
			return NULL;
		expr->name = parser_format(e->p, "%s:%s", expr->name, name);
		expr->pos = parser_span(e->p, expr->pos);
		return expr;
	}
	if (!inner.length) {
		parser_report(e->p, inner.pos, TRCERR_BADSYMBOL, "''");
		return NULL;
	}

	/* one character is its byte */
	c = *inner.text;
	if (c == '\\' && inner.length > 1)
		n = parse_escape(inner.text, at, &c);
	if (!n || n != inner.length) {
		expr->pos = parser_span(e->p, expr->pos);
		return expr;
	}
	expr = expr_number(e, inner.pos, (uint8_t)c);
	if (expr)
		expr->literal.character = true;
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

struct type_words {		/* of a type of C's own, counted */
	unsigned int is_signed, is_unsigned, is_short, is_long, is_int;
	unsigned int other;
	enum expr_base base;	/* of `other` */
};

/* Keywords are C's here: in lower case only. */
static bool at_word(const struct expr_parser *e, const char *word)
{
	const struct token *token = &e->p->token;

	return token->kind == TOKEN_WORD && token->length == strlen(word) &&
	       !memcmp(token->text, word, token->length);
}

static bool take_word(struct expr_parser *e, const char *word)
{
	if (!at_word(e, word))
		return false;
	expr_take(e);
	return true;
}

static void qualifiers_skip(struct expr_parser *e)
{
	while (take_word(e, "const") || take_word(e, "volatile") ||
	       take_word(e, "restrict"))
		;
}

static bool words_take(struct expr_parser *e, struct type_words *words)
{
	static const struct {
		const char *word;
		enum expr_base base;
	} others[] = {
		{ "void", EXPR_BASE_VOID }, { "bool", EXPR_BASE_BOOL },
		{ "_Bool", EXPR_BASE_BOOL }, { "char", EXPR_BASE_CHAR },
		{ "float", EXPR_BASE_FLOAT }, { "double", EXPR_BASE_DOUBLE },
	};
	unsigned int *const counts[] = {
		&words->is_signed, &words->is_unsigned, &words->is_short,
		&words->is_long, &words->is_int,
	};
	static const char *const counted[] = {
		"signed", "unsigned", "short", "long", "int",
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (take_word(e, counted[i]))
			return ++*counts[i];
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (!take_word(e, others[i].word))
			continue;
		words->base = others[i].base;
		return ++words->other;
	}
	return false;
}

/* C11 section 6.7.2: which of the words may be together */
static bool words_fit(const struct type_words *w)
{
	bool sign = w->is_signed || w->is_unsigned;

	if (w->is_signed + w->is_unsigned > 1 || w->is_int > 1 ||
	    w->is_short > 1 || w->is_long > 2 || w->other > 1 ||
	    (w->is_short && w->is_long))
		return false;
	if (!w->other)
		return true;
	if (w->is_int || w->is_short || (sign && w->base != EXPR_BASE_CHAR))
		return false;
	return !w->is_long || (w->base == EXPR_BASE_DOUBLE && w->is_long == 1);
}

static const char *const base_words[] = {
	"void", "bool",	  "_Bool",    "char",  "short",	 "int",
	"long", "signed", "unsigned", "float", "double", NULL};
static const char *const tags[] = {"struct", "class", "union", "enum", NULL};

static const char *at_one_of(const struct expr_parser *e,
			     const char *const *words)
{
	for (; *words; words++)
		if (at_word(e, *words))
			return *words;
	return NULL;
}

/* A word that C has for types is here. */
static bool expr_at_type(const struct expr_parser *e)
{
	return at_one_of(e, base_words) || at_one_of(e, tags);
}

/*
 * Names of types in casts and sizeof (C11 section 6.7.7), without arrays and
 * functions, up to the ')' after it. False, silently: there is none here; with a
 * message: no memory.
 * *sure: a word that C has for types, or a pointer; else a name that may be
 * a variable's as well.
 */
static bool expr_type_parse(struct expr_parser *e, struct expr_type **result,
			    bool *sure)
{
	struct expr_type *type = tsf_alloc(e->p->tsf, sizeof(*type));
	struct token first = e->p->token;
	struct type_words w = { 0 };

	if (!type) {
		parser_report(e->p, first.pos, TRCERR_NO_MEM);
		return false;
	}
	qualifiers_skip(e);
	*sure = expr_at_type(e) || e->p->token.text != first.text;
	if (at_one_of(e, base_words)) {
		while (words_take(e, &w))
			qualifiers_skip(e);
		if (!words_fit(&w))
			return false;
		type->is_signed = w.is_signed;
		type->is_unsigned = w.is_unsigned;
		if (w.other)
			type->base = w.is_long ? EXPR_BASE_LONG_DOUBLE : w.base;
		else if (w.is_short)
			type->base = EXPR_BASE_SHORT;
		else if (w.is_long)
			type->base = w.is_long == 2 ? EXPR_BASE_LONG_LONG :
						      EXPR_BASE_LONG;
		else
			type->base = EXPR_BASE_INT;
	} else {
		type->tag = at_one_of(e, tags);
		if (type->tag)
			expr_take(e);
		if ((e->p->token.kind != TOKEN_WORD && !expr_at(e, "::")) ||
		    *e->p->token.text == '$' || !expr_qualified(e, &type->name))
			return false;
	}
	qualifiers_skip(e);
	while (expr_take_marks(e, "*")) {
		if (++type->pointers > EXPR_NESTING_MAX)
			return false;
		qualifiers_skip(e);
	}
	type->pos = parser_span(e->p, first.pos);
	*sure |= type->pointers && parser_at_mark(e->p, ')');
	*result = type;
	return true;
}

static struct expr *parse_choice(struct expr_parser *e);

static struct expr *expr_parse_primary(struct expr_parser *e)
{
	const struct token *token = &e->p->token;
	struct expr *expr;

	if (token->kind == TOKEN_NUMBER)
		return expr_literal(e);
	if (token->kind == TOKEN_WORD && *token->text == '$')
		return parse_dollar(e);
	if ((token->kind == TOKEN_WORD && !expr_at_type(e) &&
	     !parser_at_trace(e->p)) || expr_at(e, "::")) {
		expr = expr_node(e, EXPR_NAME, token->pos);
		if (!expr || !expr_qualified(e, &expr->name))
			return NULL;
		expr->pos = parser_span(e->p, expr->pos);
		return expr;
	}
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
	struct expr *expr = expr_parse_primary(e), *array;
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
		} else if (expr_at(e, "[:")) {
			return expr;	/* the caller's: so many elements */
		} else if (expr_take_marks(e, "[")) {
			array = expr;
			expr = expr_node(e, EXPR_INDEX, pos);
			if (!expr)
				return NULL;
			expr->a = array;
			expr->b = parse_choice(e);
			if (!expr->b || !expr_expect(e, "]"))
				return NULL;
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

static struct expr *expr_parse_unary(struct expr_parser *e);

/* "(type)" at a parenthesis; NULL: it isn't, and the place is where it was. */
static const struct expr_type *parse_cast_type(struct expr_parser *e)
{
	struct expr_state before = expr_save(e);
	const enum token_kind *kind = &e->p->token.kind;
	struct expr_type *type = NULL;
	bool sure = false;

	expr_take(e);
	if (expr_type_parse(e, &type, &sure) && expr_take_marks(e, ")")) {
		/* What follows "(name)" can be an operand of a cast only, or
		 * of an operation as well. */
		if (sure || *kind == TOKEN_WORD || *kind == TOKEN_NUMBER ||
		    expr_at(e, "(") || expr_at(e, "~") || expr_at(e, "'") ||
		    expr_at(e, "::") || (expr_at(e, "!") && !expr_at(e, "!=")))
			return type;
		if ((expr_at(e, "-") && !expr_at(e, "->")) || expr_at(e, "+") ||
		    expr_at(e, "*") || (expr_at(e, "&") && !expr_at(e, "&&"))) {
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
	expr->a = expr_at(e, "(") ? parse_postfix(e) : expr_parse_unary(e);
	return expr->a ? expr : NULL;
}

/* A word and a parenthesis after it. */
static bool expr_at_call(const struct expr_parser *e, const char *word)
{
	const struct token *token = &e->p->token;
	const char *at = token->text + token->length;

	return parser_at(e->p, word) && at < e->p->lexer.end && *at == '(';
}

/* A string, as the characters that `expr` compares with. */
static bool parse_characters(struct expr_parser *e, struct expr *expr)
{
	const struct token *token = &e->p->token;
	struct srcpos pos = token->pos;

	if (token->kind != TOKEN_STRING)
		return parser_missing(e->p, "\"");
	if (token->length > EXPR_TEXT_MAX ||
	    memchr(token->text, '\\', token->length)) {
		parser_report(e->p, pos, TRCERR_UNSUPPORTED,
			      "such a string in an expression");
		diag_hint(e->p->diag, "%d characters at most, no backslash",
			  EXPR_TEXT_MAX);
		return false;
	}
	expr->name = parser_format(e->p, "%.*s", (int)token->length,
				   token->text);
	expr->number = token->length;
	expr->pos = pos;
	bytes_print(&e->text, "\"%s\"", expr->name);
	e->end = NULL;
	parser_next(e->p);
	return true;
}

/* startswith(a, "text") */
static struct expr *parse_startswith(struct expr_parser *e)
{
	struct expr *expr = expr_node(e, EXPR_TEXT, e->p->token.pos);

	if (!expr)
		return NULL;
	expr->op = EXPR_GE;
	expr_take(e);
	expr_take_marks(e, "(");
	expr->a = parse_choice(e);
	return expr->a && expr_expect(e, ",") && parse_characters(e, expr) &&
	       expr_expect(e, ")") ? expr : NULL;
}

/* len(a), entry(a) */
static struct expr *parse_in_call(struct expr_parser *e, enum expr_kind kind)
{
	struct expr *expr = expr_node(e, kind, e->p->token.pos);

	if (!expr)
		return NULL;
	expr_take(e);
	expr_take_marks(e, "(");
	expr->a = parse_choice(e);
	return expr->a && expr_expect(e, ")") ? expr : NULL;
}

static struct expr *parse_operand(struct expr_parser *e)
{
	const struct expr_type *type;
	struct srcpos pos = e->p->token.pos;
	struct expr *expr;

	if (expr_at_call(e, "len"))
		return parse_in_call(e, EXPR_LENGTH);
	if (expr_at_call(e, "startswith"))
		return parse_startswith(e);
	if (expr_at_call(e, "entry"))
		return parse_in_call(e, EXPR_ENTRY);
	if (parser_at(e->p, "sizeof"))
		return parse_sizeof(e);
	if (expr_at(e, "(")) {
		type = parse_cast_type(e);
		if (type) {
			expr = expr_node(e, EXPR_CAST, type->pos);
			if (!expr)
				return NULL;
			expr->type = type;
			expr->a = expr_parse_unary(e);
			return expr->a ? expr : NULL;
		}
	}
	if (refuse_effects(e))
		return NULL;
	for (int op = EXPR_DEREF; op < EXPR_OP_COUNT; op++)
		if (!expr_at(e, "&&") &&
		    expr_take_marks(e, expr_operators[op].text))
			return node_unary(e, op, pos, expr_parse_unary(e));
	return parse_postfix(e);
}

static struct expr *expr_parse_unary(struct expr_parser *e)
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

/* The longest binary operator that is here. */
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

static struct expr *expr_parse_binary(struct expr_parser *e, int precedence)
{
	struct expr *left = expr_parse_unary(e), *expr;
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
		if (e->p->token.kind == TOKEN_STRING &&
		    (op == EXPR_EQ || op == EXPR_NE)) {
			expr->kind = EXPR_TEXT;
			left = parse_characters(e, expr) ? expr : NULL;
			continue;
		}
		expr->b =
			expr_parse_binary(e, expr_operators[op].precedence + 1);
		left = expr->b ? expr : NULL;
	}
	return left;
}

static struct expr *parse_choice(struct expr_parser *e)
{
	struct expr *expr, *test;
	struct srcpos pos;

	if (e->nesting == EXPR_NESTING_MAX)
		return expr_parse_unary(e); /* which reports that */
	e->nesting++;
	expr = expr_parse_binary(e, 1);
	pos = e->p->token.pos;
	if (expr && expr_take_marks(e, "?")) {
		test = expr;
		expr = expr_node(e, EXPR_CHOICE, pos);
		if (expr) {
			expr->a = test;
			expr->b = parse_choice(e);
			if (expr->b && expr_expect(e, ":"))
				expr->c = parse_choice(e);
			expr = expr->c ? expr : NULL;
		}
	}
	e->nesting--;
	if (expr && expr_at(e, "=")) {
		parser_missing(e->p, "==");
		return NULL;
	}
	return expr;
}

bool parse_expr(struct parser *p, const struct expr **expr, const char **text)
{
	struct expr_parser e = { .p = p };
	struct expr_state start = expr_save(&e);
	struct expr *as_types = parse_choice(&e), *result = as_types;
	bool parsed;

	/* Again, with the doubtful names as variables. */
	if (as_types && e.either)
		result = expr_node(&e, EXPR_EITHER, e.either->pos);
	if (result && e.either) {
		expr_restore(&e, &start);
		e.as_variables = true;
		e.nodes = 0;
		result->name = e.either->name;
		result->a = as_types;
		result->b = parse_choice(&e);
		result = result->b ? result : NULL;
	}
	if (e.text.failed)
		parser_report(p, start.token.pos, TRCERR_NO_MEM);
	parsed = result && !e.text.failed;
	*expr = result;
	if (parsed && text)
		*text = parser_format(p, "%.*s", (int)e.text.size,
				      (const char *)e.text.data);
	bytes_free(&e.text);
	return parsed && !p->aborted;
}

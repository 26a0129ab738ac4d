// SPDX-License-Identifier: GPL-2.0
/* Numbers and characters of C (C11 section 6.4.4). */
#include "parse_expr.h"

#include <string.h>

struct expr *expr_number(struct expr_parser *e, struct srcpos pos,
			 uint64_t number)
{
	struct expr *expr = expr_node(e, EXPR_NUMBER, pos);

	if (expr) {
		expr->number = number;
		expr->literal.decimal = true;
	}
	return expr;
}

/* C11 section 6.4.4.1: the suffix behind the digits */
static bool number_suffix(const char *p, const char *end, struct expr *expr)
{
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
		if (__builtin_mul_overflow(expr->number, base,
					   &expr->number) ||
		    __builtin_add_overflow(expr->number, digit, &expr->number))
			return false;
	}
	return number_suffix(p, end, expr);
}

struct expr *expr_literal(struct expr_parser *e)
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

bool expr_quoted_character(const char *p, const char *end, uint64_t *number)
{
	size_t n = 1;
	char c;

	if (p == end)
		return false;
	c = *p;
	if (c == '\\' && end - p > 1)
		n = parse_escape(p, end, &c);
	*number = (uint8_t)c;
	return n && p + n == end;
}

bool expr_quoted_token(struct expr_parser *e)
{
	struct token *token = &e->p->token;
	const char *p = token->text + 1, *end = e->p->lexer.end;

	for (; p < end && *p != '\'' && *p != '\n'; p++)
		if (*p == '\\' && p + 1 < end && p[1] != '\n')
			p++;
	if (p == end || *p != '\'')
		return parser_missing(e->p, "ending quote");
	token->length = token->pos.length = p + 1 - token->text;
	e->p->lexer.at = p + 1;
	return true;
}

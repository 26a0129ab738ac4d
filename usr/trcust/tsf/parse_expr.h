/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by parse_expr.c, parse_literal.c and parse_type.c. */
#ifndef TRCUST_PARSE_EXPR_H
#define TRCUST_PARSE_EXPR_H

#include "expr.h"
#include "parser.h"

struct expr_parser {
	struct parser *p;
	struct bytes text;	/* of the tokens taken */
	const char *end;	/* of the last one, in the TSF */
	unsigned int nodes, nesting;
	bool as_variables;	/* a doubtful "(name)" is no cast */
	const struct expr_type *either;	/* the first doubtful one; NULL */
};

/* Take the token, keeping its text. */
void expr_take(struct expr_parser *e);
/* These marks stand here, without blanks between. */
bool expr_at(const struct expr_parser *e, const char *marks);
bool expr_take_marks(struct expr_parser *e, const char *marks);
/* [::]word[::word]...; false: told. */
bool expr_qualified(struct expr_parser *e, const char **name);

/* NULL: told. */
struct expr *expr_node(struct expr_parser *e, enum expr_kind kind,
		       struct srcpos pos);

/* parse_literal.c */
struct expr *expr_number(struct expr_parser *e, struct srcpos pos,
			 uint64_t number);
struct expr *expr_literal(struct expr_parser *e);
/* The token becomes all from this quote to the next one on the line. */
bool expr_quoted_token(struct expr_parser *e);
/* One character between quotes: its byte. */
bool expr_quoted_character(const char *p, const char *end, uint64_t *number);

/* parse_type.c */
/* A word that C has for types stands here. */
bool expr_at_type(const struct expr_parser *e);
/*
 * A type up to the ')' behind it. False, silently: what stands here is none.
 * *sure: a word that C has for types, or a pointer; else a name that may be
 * a variable's as well.
 */
bool expr_type_parse(struct expr_parser *e, struct expr_type **type,
		     bool *sure);

#endif

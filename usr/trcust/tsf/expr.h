/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The C expressions of VARS and IF as a tree. What a name means is not known
 * here: evaluate.c looks it up at every site.
 */
#ifndef TRCUST_EXPR_H
#define TRCUST_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/formats/bytes.h"
#include "diag.h"

#define EXPR_NODES_MAX	1024	/* of one expression; bounds recursion, too */
#define EXPR_NESTING_MAX 64	/* parentheses, unary operators */

enum expr_kind {
	EXPR_NAME,		/* name: "x", "ns::x", "::x", "file.c:x" */
	EXPR_REGISTER,		/* name: "rax", without the $ */
	EXPR_ARGUMENT,		/* number: of $argN, from 1 */
	EXPR_NUMBER,		/* number, literal */
	EXPR_MEMBER,		/* a.name */
	EXPR_INDEX,		/* a[b] */
	EXPR_UNARY,		/* op a; name: "->" for the * in p->m, or NULL */
	EXPR_BINARY,		/* a op b */
	EXPR_CHOICE,		/* a ? b : c */
	EXPR_CAST,		/* (type)a */
	EXPR_SIZEOF,		/* of a; of type when a is NULL */
	EXPR_EITHER,		/* (name)-x and the like: a with `name` as a
				 * type, b with it as a variable */
};

/* In the order of expr_operators[] in expr.c. */
enum expr_op {
	EXPR_MUL, EXPR_DIV, EXPR_MOD, EXPR_ADD, EXPR_SUB, EXPR_SHL, EXPR_SHR,
	EXPR_LT, EXPR_GT, EXPR_LE, EXPR_GE, EXPR_EQ, EXPR_NE, EXPR_AND,
	EXPR_XOR, EXPR_OR, EXPR_ANDAND, EXPR_OROR,
	EXPR_BINARY_COUNT,
	/* unary */
	EXPR_DEREF = EXPR_BINARY_COUNT, EXPR_ADDRESS, EXPR_MINUS, EXPR_PLUS,
	EXPR_NOT, EXPR_COMPLEMENT,
	EXPR_OP_COUNT
};

struct expr_operator {
	const char *text;
	int precedence;		/* of binary ones; the higher binds tighter */
};

extern const struct expr_operator expr_operators[EXPR_OP_COUNT];

enum expr_base {		/* of a type that C has itself */
	EXPR_BASE_NAMED,	/* none: name, perhaps with a tag */
	EXPR_BASE_VOID, EXPR_BASE_BOOL, EXPR_BASE_CHAR, EXPR_BASE_SHORT,
	EXPR_BASE_INT, EXPR_BASE_LONG, EXPR_BASE_LONG_LONG, EXPR_BASE_FLOAT,
	EXPR_BASE_DOUBLE, EXPR_BASE_LONG_DOUBLE,
};

struct expr_type {
	struct srcpos pos;
	enum expr_base base;
	bool is_unsigned, is_signed;	/* as written */
	const char *tag;	/* "struct", "class", "union", "enum"; NULL */
	const char *name;
	unsigned int pointers;
};

struct expr {
	enum expr_kind kind;
	enum expr_op op;
	struct srcpos pos;	/* of the name, the operator, the number */
	const char *name;
	uint64_t number;
	struct {		/* of a NUMBER: what its type depends on */
		bool is_unsigned, decimal;
		bool character;	/* number: its byte */
		uint8_t longs;
	} literal;
	const struct expr_type *type;
	const struct expr *a, *b, *c;
};

/* With a pair of parentheses around every operation. */
void expr_print(const struct expr *expr, struct bytes *out);
void expr_type_print(const struct expr_type *type, struct bytes *out);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "expr.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct expr_operator expr_operators[EXPR_OP_COUNT] = {
	[EXPR_MUL] = { "*", 10 },
	[EXPR_DIV] = { "/", 10 },
	[EXPR_MOD] = { "%", 10 },
	[EXPR_ADD] = { "+", 9 },
	[EXPR_SUB] = { "-", 9 },
	[EXPR_SHL] = { "<<", 8 },
	[EXPR_SHR] = { ">>", 8 },
	[EXPR_LT] = { "<", 7 },
	[EXPR_GT] = { ">", 7 },
	[EXPR_LE] = { "<=", 7 },
	[EXPR_GE] = { ">=", 7 },
	[EXPR_EQ] = { "==", 6 },
	[EXPR_NE] = { "!=", 6 },
	[EXPR_AND] = { "&", 5 },
	[EXPR_XOR] = { "^", 4 },
	[EXPR_OR] = { "|", 3 },
	[EXPR_ANDAND] = { "&&", 2 },
	[EXPR_OROR] = { "||", 1 },
	[EXPR_DEREF] = { "*" },
	[EXPR_ADDRESS] = { "&" },
	[EXPR_MINUS] = { "-" },
	[EXPR_PLUS] = { "+" },
	[EXPR_NOT] = { "!" },
	[EXPR_COMPLEMENT] = { "~" },
};

static void expr_text_add(struct bytes *out, const char *text)
{
	bytes_add(out, text, strlen(text));
}

static void expr_number_print(const struct expr *expr, const char *prefix,
			      struct bytes *out)
{
	char text[48];

	snprintf(text, sizeof(text), "%s%" PRIu64 "%s%.*s", prefix,
		 expr->number, expr->literal.is_unsigned ? "u" : "",
		 expr->literal.longs, "ll");
	expr_text_add(out, text);
}

void expr_type_print(const struct expr_type *type, struct bytes *out)
{
	static const char *const names[] = {
		[EXPR_BASE_VOID] = "void",
		[EXPR_BASE_BOOL] = "bool",
		[EXPR_BASE_CHAR] = "char",
		[EXPR_BASE_SHORT] = "short",
		[EXPR_BASE_INT] = "int",
		[EXPR_BASE_LONG] = "long",
		[EXPR_BASE_LONG_LONG] = "long long",
		[EXPR_BASE_FLOAT] = "float",
		[EXPR_BASE_DOUBLE] = "double",
		[EXPR_BASE_LONG_DOUBLE] = "long double",
	};

	if (type->tag) {
		expr_text_add(out, type->tag);
		expr_text_add(out, " ");
	}
	if (type->is_unsigned)
		expr_text_add(out, "unsigned ");
	else if (type->is_signed && type->base == EXPR_BASE_CHAR)
		expr_text_add(out, "signed ");
	expr_text_add(out, type->name ? type->name : names[type->base]);
	for (unsigned int i = 0; i < type->pointers; i++)
		expr_text_add(out, i ? "*" : " *");
}

/* (first text second) */
static void pair_print(const struct expr *first, const char *text,
		       const struct expr *second, struct bytes *out)
{
	expr_text_add(out, "(");
	if (first) {
		expr_print(first, out);
		expr_text_add(out, " ");
	}
	expr_text_add(out, text);
	if (first)
		expr_text_add(out, " ");
	expr_print(second, out);
	expr_text_add(out, ")");
}

void expr_print(const struct expr *expr, struct bytes *out)
{
	switch (expr->kind) {
	case EXPR_REGISTER:
		expr_text_add(out, "$");
		expr_text_add(out, expr->name);
		break;
	case EXPR_NAME:
		expr_text_add(out, expr->name);
		break;
	case EXPR_ARGUMENT:
		expr_number_print(expr, "$arg", out);
		break;
	case EXPR_NUMBER:
		expr_number_print(expr, "", out);
		break;
	case EXPR_MEMBER:
		expr_print(expr->a, out);
		expr_text_add(out, ".");
		expr_text_add(out, expr->name);
		break;
	case EXPR_INDEX:
		expr_print(expr->a, out);
		expr_text_add(out, "[");
		expr_print(expr->b, out);
		expr_text_add(out, "]");
		break;
	case EXPR_UNARY:
		pair_print(NULL, expr_operators[expr->op].text, expr->a, out);
		break;
	case EXPR_BINARY:
		pair_print(expr->a, expr_operators[expr->op].text, expr->b,
			   out);
		break;
	case EXPR_CHOICE:
		expr_text_add(out, "(");
		expr_print(expr->a, out);
		expr_text_add(out, " ? ");
		expr_print(expr->b, out);
		expr_text_add(out, " : ");
		expr_print(expr->c, out);
		expr_text_add(out, ")");
		break;
	case EXPR_CAST:
	case EXPR_SIZEOF:
		expr_text_add(out, expr->kind == EXPR_CAST ? "((" : "sizeof(");
		if (expr->type)
			expr_type_print(expr->type, out);
		if (expr->kind == EXPR_CAST)
			expr_text_add(out, ")");
		if (expr->a)
			expr_print(expr->a, out);
		expr_text_add(out, ")");
		break;
	case EXPR_EITHER:
		pair_print(expr->a, "or", expr->b, out);
		break;
	}
}

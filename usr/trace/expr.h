/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What `-e` takes: a place, what to log there and a condition, in one line.
 *
 *	[MODULE:]FUNCTION [(VALUE, ...)] [-> VALUE, ...] [if CONDITION]
 *	[MODULE:]@FILE:LINE [VALUE, ...] [if CONDITION]
 *	[MODULE:]usdt:PROVIDER:NAME [VALUE, ...] [if CONDITION]
 *
 * It becomes a TSF (tsf(5)), which trcust compiles: names are not looked up here.
 */
#ifndef TRACE_EXPR_H
#define TRACE_EXPR_H

#include <stdbool.h>
#include <stdio.h>
#include "lib/error.h"

enum expr_place {
	EXPR_FUNCTION,
	EXPR_FUNCTIONS,		/* a pattern with * and ? */
	EXPR_LINE,
	EXPR_USDT,
};

struct probe_expr {
	const char *text;	/* as given; stays the caller's */
	enum expr_place kind;
	char *module;		/* NULL: the program that is traced */
	char *place;		/* function, pattern or file */
	char *name;		/* line, or name of a USDT probe; else NULL */
	char *values;		/* at the entry; NULL: none were given */
	char *results;		/* at the exits; NULL: those are not traced */
	char *condition;	/* NULL: all hits */
	bool whole;		/* condition or results are about whole calls */
};

/* 0, or a negative errno with err set: its text names the column. */
int expr_parse(struct probe_expr *expr, const char *text, struct error *err);
void expr_free(struct probe_expr *expr);

/*
 * Does trcust have to find the functions? Then it makes the TSF (--from-module).
 * So it does for a function without any values: all parameters are logged.
 */
bool expr_is_pattern(const struct probe_expr *expr);

/* The TSF of an expression that is no pattern, for this module. calls: those of a
 * condition on whole calls are CALL, else PRE and POST, without the condition. */
void expr_write_tsf(const struct probe_expr *expr, const char *module,
		    unsigned int major, bool calls, FILE *out);

/* A condition on whole calls as IF of a CALL has it, "": there is none; to be freed.
 * NULL: no memory. */
char *expr_if(const struct probe_expr *expr);

/* Can tracefmt leave out the calls instead, when they aren't CALL? */
bool expr_is_for_tracefmt(const struct probe_expr *expr);

/* A condition on whole calls, if it is for tracefmt, as its --field has it; to be
 * freed. NULL: no memory. */
char *expr_call_condition(const struct probe_expr *expr);

#endif

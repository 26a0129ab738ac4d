/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a TP means, and which variables, with which types and places, are in scope
 * there: for lists and editors. Compiled as everything else, so that what is
 * found is what VARS would log.
 */
#ifndef TRCUST_SCOPE_H
#define TRCUST_SCOPE_H

#include "trcust/compile/compile.h"

struct scope_variable {
	const char *kind;	/* "parameter", "local", "global", "result",
				 * "argument" of a USDT point, "member" */
	const char *name;
	const char *type;	/* "struct request *"; "" not known */
	uint64_t bytes;		/* 0: not known */
	const char *where;	/* "register rdi"; "" if it is not there */
	const char *why;	/* then: "it is optimized out here" */
};

/* Non-zero ends the walk, which returns it. */
typedef int scope_take(void *context, const struct scope_variable *variable);

/* The sites of a place: out.points[0]. */
struct scope_place {
	struct compilation c;	/* with a TSF and messages of its own */
	struct compiled out;
};

/*
 * Compile TP=`place` in the module of `c`, of which a copy is made. "@file.c:12"
 * is @file.c,12, too. Messages, up to `level`, go to take(). 0, 1 after a message,
 * 2 if it is more, or something else, than a place of the module, -ENOMEM;
 * scope_close() in any case.
 */
int scope_open(struct scope_place *p, const struct compilation *c,
	       const char *place, size_t length, int level,
	       void (*take)(void *context, const struct diag_note *note),
	       void *context);
void scope_close(struct scope_place *p);
/* What VARS can name at one of these: parameters and local variables, results,
 * arguments, and variables of the site's source file. 0, -ENOMEM. */
int scope_each(const struct compilation *c, const struct compile_site *site,
	       scope_take *take, void *context);
/* An expression as in VARS; false: it has no meaning there. */
bool scope_expression(const struct compilation *c,
		      const struct compile_site *site, const char *text,
		      size_t length, scope_take *take, void *context);
/* The members of what it means, or of what that points to. */
bool scope_members(const struct compilation *c,
		   const struct compile_site *site, const char *text,
		   size_t length, scope_take *take, void *context);
/* The debug information has the code at the site. */
bool scope_is_known(const struct compilation *c,
		    const struct compile_site *site);

#endif

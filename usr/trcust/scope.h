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

/*
 * The sites of a tracepoint of c->tsf, of which nothing else than TP is
 * compiled: out->points[0]. Messages are those of trcust. False: it has none.
 * compile_free() in any case.
 */
bool scope_sites(struct compilation *c, const struct tsf_point *point,
		 struct compiled *out);
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

/* SPDX-License-Identifier: GPL-2.0 */
/* The pass that compiles the statements of a tracepoint for each of its
 * sites. */
#ifndef TRCUST_STMTS_H
#define TRCUST_STMTS_H

#include "emit.h"

/* One item of VARS: appends the statements, fills s->item. */
int variable_compile(const struct site_stmt *s);
/* IF: without s->in and s->item. */
int condition_compile(const struct site_stmt *s, const struct expr *condition);

/* All sites; those where a name has no meaning are left out. 0, 1, -1. */
int stmts_compile(const struct compilation *c, struct compiled *out,
		  struct compile_point *point);
/* One site, whose statements are appended. Returns COMPILE_LEAVE_OUT as
 * well. */
int stmts_compile_site(const struct compilation *c, struct compiled *out,
		       struct compile_point *point, struct compile_site *site);
/* The tracepoint logs return addresses. */
bool stmts_have_stack(const struct tsf_point *point);

#endif

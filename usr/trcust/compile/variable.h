/* SPDX-License-Identifier: GPL-2.0 */
/* VARS and IF. */
#ifndef TRCUST_VARIABLE_H
#define TRCUST_VARIABLE_H

#include "emit.h"

/* One item of VARS: appends the statements, fills s->item. */
int variable_compile(const struct site_stmt *s);
/* Without s->in and s->item. */
int condition_compile(const struct site_stmt *s, const struct expr *condition);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_PARSE_EXPR_H
#define TRCUST_PARSE_EXPR_H

#include "parser.h"

/* A C expression, up to a ',', ':', "[:" or ')' that isn't its own. *text (may be
 * NULL): as written. */
bool parse_expr(struct parser *p, const struct expr **expr, const char **text);

#endif

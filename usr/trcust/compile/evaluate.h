/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_EVALUATE_H
#define TRCUST_EVALUATE_H

#include "value.h"

/* What the expression means at the site. */
bool evaluate(struct evaluation *e, const struct expr *expr,
	      struct value *value);

/* Which of the two an EXPR_EITHER is. */
const struct expr *evaluate_either(struct evaluation *e,
				   const struct expr *expr);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Conversions and operations (C11 sections 6.3.1, 6.5.3 to 6.5.14) of values
 * that were loaded. */
#ifndef TRCUST_VALUE_COMPUTE_H
#define TRCUST_VALUE_COMPUTE_H

#include "trcust/tsf/expr.h"
#include "value.h"

void value_convert(struct evaluation *e, struct value *value,
		   const struct value_type *type);
bool value_unary(struct evaluation *e, struct srcpos pos, enum expr_op op,
		 struct value *value);
/* The result is in a; b is used up. */
bool value_binary(struct evaluation *e, struct srcpos pos, enum expr_op op,
		  struct value *a, struct value *b);
/* The type that both branches of a choice are converted to. */
bool value_common(struct evaluation *e, struct srcpos pos,
		  const struct value *a, const struct value *b,
		  struct value_type *type);

#endif

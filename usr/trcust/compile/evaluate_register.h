/* SPDX-License-Identifier: GPL-2.0 */
/* Registers, and the arguments of static probes. */
#ifndef TRCUST_EVALUATE_REGISTER_H
#define TRCUST_EVALUATE_REGISTER_H

#include "trcust/tsf/expr.h"
#include "value.h"

bool evaluate_register(struct evaluation *e, const struct expr *expr,
		       struct value *value);
bool evaluate_argument(struct evaluation *e, const struct expr *expr,
		       struct value *value);

#endif

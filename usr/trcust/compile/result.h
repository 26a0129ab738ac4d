/* SPDX-License-Identifier: GPL-2.0 */
/* $result: what the function returns, at a return point, with its type. */
#ifndef TRCUST_RESULT_H
#define TRCUST_RESULT_H

#include "value.h"

/* False after a message. */
bool result_evaluate(struct evaluation *e, const struct expr *expr,
		     struct value *value);

#endif

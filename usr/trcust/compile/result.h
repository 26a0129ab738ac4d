/* SPDX-License-Identifier: GPL-2.0 */
/* $result: what the function returns, at a return point, with its type. A function
 * of Go may have more: $result2, $result3 and so on. */
#ifndef TRCUST_RESULT_H
#define TRCUST_RESULT_H

#include "value.h"

/* The number of the result that a name after '$' means; 0: it means none. */
unsigned int result_number(const char *name);
/* False after a message. */
bool result_evaluate(struct evaluation *e, const struct expr *expr,
		     struct value *value);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The statements that log a value with a shape, part by part; see shape.h. */
#ifndef TRCUST_SHAPE_LOG_H
#define TRCUST_SHAPE_LOG_H

#include "shape_type.h"

/* The items of a value whose type has parts. False: e->code is why. */
bool shape_log_parts(struct shaping *g, struct value *value, uint32_t ctype);
/* The items of `count` elements from where `pointer` points on, both loaded. */
bool shape_log_elements(struct shaping *g, const struct value *pointer,
			const struct value *count, uint32_t ctype);
/* What cannot be computed at this site: so many items. */
bool shape_parts_absent(struct shaping *g, unsigned int count);
/* if (guard) value; else 0. In this order: the verifier goes straight on first,
 * and what it has seen with any value it doesn't go through again with 0. */
void shape_guard_emit(const struct bytes *guard, const struct bytes *value,
		      struct bytes *rpn);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* heap.def as a table. */
#ifndef HEAPMON_FUNCTION_H
#define HEAPMON_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>
#include "heapmon/core/event.h"

enum function_kind {
	FUNCTION_ACQUIRE, FUNCTION_ACQUIRE_INTO, FUNCTION_RESIZE,
	FUNCTION_RELEASE, FUNCTION_MAP, FUNCTION_UNMAP,
};

/* Which arguments: the first one's number and 1, and of a product the second
 * one's above. */
#define FUNCTION_NONE		0
#define FUNCTION_ARG(n)		((n) + 1)
#define FUNCTION_MUL(m, n)	(((m) + 1) | ((n) + 1) << 4)

struct function {
	enum heap_function minor;
	enum function_kind kind;
	uint8_t level;
	uint8_t size, address;	/* FUNCTION_NONE, _ARG, _MUL */
	const char *symbol, *text;
};

/* NULL: there is none. */
const struct function *function_find(const char *symbol);
const struct function *function_get(enum heap_function minor);
/* A form of operator new that throws when there is no memory */
bool function_throws(enum heap_function minor);
/* One after the other, from 0; NULL: no more. */
const struct function *function_next(unsigned int index);

#endif

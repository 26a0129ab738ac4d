// SPDX-License-Identifier: GPL-2.0
#include "function.h"

#include <string.h>

#define NONE	FUNCTION_NONE
#define ARG	FUNCTION_ARG
#define MUL	FUNCTION_MUL

static const struct function functions[] = {
#define HEAP_FUNCTION(i, m, k, l, s, n, a, t) \
	{ .minor = m, .kind = FUNCTION_##k, .level = l, .size = n, \
	  .address = a, .symbol = s, .text = t },
#include <rastrace/heap.def>
#undef HEAP_FUNCTION
};

#define FUNCTIONS	(sizeof(functions) / sizeof(functions[0]))

const struct function *function_find(const char *symbol)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		if (!strcmp(functions[i].symbol, symbol))
			return &functions[i];
	return NULL;
}

const struct function *function_get(enum heap_function minor)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		if (functions[i].minor == minor)
			return &functions[i];
	return NULL;
}

bool function_throws(enum heap_function minor)
{
	return minor == HEAP_FUNCTION_NEW ||
	       minor == HEAP_FUNCTION_NEW_ALIGNED ||
	       minor == HEAP_FUNCTION_NEW_ARRAY ||
	       minor == HEAP_FUNCTION_NEW_ARRAY_ALIGNED;
}

const struct function *function_next(unsigned int index)
{
	return index < FUNCTIONS ? &functions[index] : NULL;
}

// SPDX-License-Identifier: GPL-2.0
#include "function.h"

#include <string.h>

#define NONE	FUNCTION_NONE
#define ARG	FUNCTION_ARG
#define MUL	FUNCTION_MUL

const struct heap_function_def heap_functions[HEAP_FUNCTIONS] = {
#define HEAP_FUNCTION(i, m, k, l, s, n, a, t) \
	[m] = { .minor = m, .kind = FUNCTION_##k, .level = l, .size = n, \
		.address = a, .symbol = s, .text = t },
#include <rastrace/heap.def>
#undef HEAP_FUNCTION
};

bool heap_function_is_cxx(enum heap_function function)
{
	return !strncmp(heap_function_text(function), "operator ", 9);
}

bool heap_function_is_array(enum heap_function function)
{
	return heap_function_is_cxx(function) &&
	       strstr(heap_function_text(function), "[]");
}

bool heap_function_throws(enum heap_function function)
{
	return function == HEAP_FUNCTION_NEW ||
	       function == HEAP_FUNCTION_NEW_ALIGNED ||
	       function == HEAP_FUNCTION_NEW_ARRAY ||
	       function == HEAP_FUNCTION_NEW_ARRAY_ALIGNED;
}

const char *heap_function_text(enum heap_function function)
{
	if ((size_t)function >= HEAP_FUNCTIONS ||
	    !heap_functions[function].kind)
		return "";
	return heap_functions[function].text;
}

enum heap_function heap_function_find(const char *name)
{
	for (size_t i = 1; i < HEAP_FUNCTIONS; i++)
		if (heap_functions[i].kind &&
		    (!strcmp(heap_functions[i].text, name) ||
		     !strcmp(heap_functions[i].symbol, name)))
			return i;
	return HEAP_FUNCTION_NONE;
}

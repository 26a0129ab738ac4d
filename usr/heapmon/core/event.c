// SPDX-License-Identifier: GPL-2.0
#include "event.h"

#include <string.h>

static const struct function_text {
	const char *symbol, *text;
} functions[HEAP_FUNCTIONS] = {
#define HEAP_FUNCTION(id, minor, kind, level, symbol, size, address, text) \
	[minor] = { symbol, text },
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

const char *heap_function_text(enum heap_function function)
{
	if ((size_t)function >= HEAP_FUNCTIONS || !functions[function].text)
		return "";
	return functions[function].text;
}

enum heap_function heap_function_find(const char *name)
{
	for (size_t i = 1; i < HEAP_FUNCTIONS; i++)
		if (functions[i].text && (!strcmp(functions[i].text, name) ||
					  !strcmp(functions[i].symbol, name)))
			return i;
	return HEAP_FUNCTION_NONE;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of an allocator, from the table in rastrace/heap.def. */
#ifndef HEAPMON_FUNCTION_H
#define HEAPMON_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

/* heap.def: HEAP_FUNCTION_MALLOC ..., and */
enum heap_function {
	HEAP_FUNCTION_NONE,	/* not known */
#define HEAP_FUNCTION(id, minor, kind, level, symbol, size, address, text) \
	HEAP_FUNCTION_##id = minor,
#include <rastrace/heap.def>
#undef HEAP_FUNCTION
	HEAP_FUNCTIONS
};

enum heap_function_kind {
	FUNCTION_ABSENT, FUNCTION_ACQUIRE, FUNCTION_ACQUIRE_INTO,
	FUNCTION_RESIZE, FUNCTION_RELEASE, FUNCTION_MAP, FUNCTION_UNMAP,
};

/* Which arguments: the number of the first one plus 1, and of a product the
 * number of the second one plus 1 in the upper bits. */
#define FUNCTION_NONE		0
#define FUNCTION_ARG(n)		((n) + 1)
#define FUNCTION_MUL(m, n)	(((m) + 1) | ((n) + 1) << 4)

struct heap_function_def {
	enum heap_function minor;
	enum heap_function_kind kind;
	uint8_t level;
	uint8_t size, address;	/* FUNCTION_NONE, _ARG, _MUL */
	const char *symbol, *text;
};

/* By number: the gaps are FUNCTION_ABSENT. */
extern const struct heap_function_def heap_functions[HEAP_FUNCTIONS];

/* malloc, calloc ... -> false; operator new and delete in all forms -> true */
bool heap_function_is_cxx(enum heap_function function);
/* operator new[] and delete[] in all forms */
bool heap_function_is_array(enum heap_function function);
/* A form of operator new that throws when there is no memory */
bool heap_function_throws(enum heap_function function);
/* "operator new(unsigned long)", "malloc"; "" for none */
const char *heap_function_text(enum heap_function function);
/* By its text or symbol; NONE: it is another one's. */
enum heap_function heap_function_find(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays that grow, and arrays in ascending order. */
#ifndef LIB_ARRAY_H
#define LIB_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Make room for one more element of `size` bytes after `count` of them;
 * `array` points at the pointer to them. False: no memory, or there would be
 * more than 32 bits can number; the array is then as it was.
 */
bool array_grow(void *array, size_t count, size_t *room, size_t size);

/*
 * Make the array reach to `index`; new elements are zero. False: no memory; what
 * it has got is counted.
 */
bool array_extend(void *array, size_t *count, size_t *room, size_t size,
		  size_t index);

/*
 * How many elements begin with a number that isn't above `value`: each has a
 * uint64_t for its first member, by which they are in ascending order.
 */
size_t array_count_upto(const void *array, size_t count, size_t size,
			uint64_t value);

/* For functions that qsort() calls: negative, 0 or positive. */
static inline int array_order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* For qsort() and bsearch(): elements by that first member. */
int array_compare(const void *a, const void *b);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "array.h"

#include <stdlib.h>
#include <string.h>

bool array_grow(void *array, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : 16;
	void *grown;

	if (count < *room)
		return true;
	if (more >= UINT32_MAX)
		return false;
	memcpy(&grown, array, sizeof(grown));
	grown = reallocarray(grown, more, size);
	if (!grown)
		return false;
	memcpy(array, &grown, sizeof(grown));
	*room = more;
	return true;
}

bool array_extend(void *array, size_t *count, size_t *room, size_t size,
		  size_t index)
{
	while (*count <= index) {
		char *items;

		if (!array_grow(array, *count, room, size))
			return false;
		memcpy(&items, array, sizeof(items));
		memset(items + *count * size, 0, size);
		++*count;
	}
	return true;
}

size_t array_count_upto(const void *array, size_t count, size_t size,
			uint64_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t first;

		memcpy(&first, (const char *)array + middle * size,
		       sizeof(first));
		if (first <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int array_compare(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

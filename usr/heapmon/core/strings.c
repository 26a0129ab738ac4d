// SPDX-License-Identifier: GPL-2.0
#include "strings.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/hash.h"

uint32_t heap_strings_add(struct heap_strings *strings, const char *text)
{
	return heap_strings_add_length(strings, text, strlen(text));
}

uint32_t heap_strings_add_length(struct heap_strings *strings,
				 const char *text, size_t length)
{
	size_t count = strings->count ? strings->count : 1, step = 0;
	uint32_t number;
	uint64_t hash;
	char *copy;

	length = strnlen(text, length);
	if (!length)
		return 0;
	hash = hash_fnv(HASH_FNV_START, text, length);
	while ((number = key_map_each_number(&strings->numbers, hash, &step)))
		if (!strncmp(strings->items[number], text, length) &&
		    !strings->items[number][length])
			return number;
	copy = strndup(text, length);
	if (!copy || key_map_reserve(&strings->numbers) ||
	    !array_extend(&strings->items, &strings->count, &strings->room,
			  sizeof(*strings->items), count)) {
		free(copy);
		strings->failed = true;
		return 0;
	}
	key_map_add_number(&strings->numbers, hash, count);
	strings->items[count] = copy;
	return count;
}

const char *heap_strings_get(const struct heap_strings *strings,
			     uint32_t number)
{
	return number && number < strings->count ? strings->items[number] : "";
}

void heap_strings_free(struct heap_strings *strings)
{
	for (size_t i = 1; i < strings->count; i++)
		free(strings->items[i]);
	free(strings->items);
	key_map_free(&strings->numbers);
	*strings = (struct heap_strings){ 0 };
}

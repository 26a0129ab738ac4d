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

static uint32_t string_failed(struct heap_strings *strings)
{
	strings->failed = true;
	return 0;
}

/* Behind the others; 0: no memory. */
static uint32_t string_append(struct heap_strings *strings, const char *text,
			      size_t length)
{
	size_t count = strings->count ? strings->count : 1;
	char *copy;

	if (!array_grow(&strings->items, count, &strings->room,
			sizeof(*strings->items)))
		return string_failed(strings);
	copy = strndup(text, length);
	if (!copy)
		return string_failed(strings);
	strings->items[0] = NULL;
	strings->items[count] = copy;
	strings->count = count + 1;
	return count;
}

uint32_t heap_strings_add_length(struct heap_strings *strings,
				 const char *text, size_t length)
{
	uint32_t hash, number;
	struct heap_slot *slot;
	size_t at;

	length = strnlen(text, length);
	if (!length)
		return 0;
	if (!heap_table_grow(&strings->table))
		return string_failed(strings);
	hash = hash_fnv(HASH_FNV_START, text, length);
	at = hash;
	while ((slot = heap_table_find(&strings->table, hash, &at))->number) {
		const char *other = strings->items[slot->number];

		if (!strncmp(other, text, length) && !other[length])
			return slot->number;
		at++;
	}
	number = string_append(strings, text, length);
	if (number)
		heap_table_set(&strings->table, slot, hash, number);
	return number;
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
	heap_table_free(&strings->table);
	*strings = (struct heap_strings){ 0 };
}

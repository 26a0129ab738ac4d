/* SPDX-License-Identifier: GPL-2.0 */
/* Strings, each once, numbered from 1; 0 is "". Starts as { 0 }. */
#ifndef HEAPMON_STRINGS_H
#define HEAPMON_STRINGS_H

#include <stdbool.h>
#include "lib/key_map.h"

struct heap_strings {
	char **items;		/* stay where they are; items[0] is NULL */
	size_t count, room;	/* with number 0 */
	struct key_map numbers;	/* by hash */
	bool failed;		/* out of memory: one is missing */
};

/* The number of a string; 0 also when there is no memory (strings->failed). */
uint32_t heap_strings_add(struct heap_strings *strings, const char *text);
/* The string has at most `length` bytes, and ends at a zero. */
uint32_t heap_strings_add_length(struct heap_strings *strings,
				 const char *text, size_t length);
const char *heap_strings_get(const struct heap_strings *strings,
			     uint32_t number);
void heap_strings_free(struct heap_strings *strings);

#endif

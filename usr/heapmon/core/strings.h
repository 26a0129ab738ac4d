/* SPDX-License-Identifier: GPL-2.0 */
/* Each string once, by number. 0 is the empty one. Starts as { 0 }. */
#ifndef HEAPMON_STRINGS_H
#define HEAPMON_STRINGS_H

#include "table.h"

struct heap_strings {
	char **items;		/* stay where they are */
	size_t count, room;	/* with number 0 */
	struct heap_table table;
	bool failed;		/* out of memory: one is missing */
};

/* The number of a string; 0 also when there is no memory (strings->failed). */
uint32_t heap_strings_add(struct heap_strings *strings, const char *text);
/* A zero in it ends it. */
uint32_t heap_strings_add_length(struct heap_strings *strings,
				 const char *text, size_t length);
const char *heap_strings_get(const struct heap_strings *strings,
			     uint32_t number);
void heap_strings_free(struct heap_strings *strings);

#endif

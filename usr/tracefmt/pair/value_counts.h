/* SPDX-License-Identifier: GPL-2.0 */
/* How often each of several texts was met, of the first VALUE_COUNTS_MOST of
 * them. Later ones are counted together, so that every count is right. */
#ifndef TRACEFMT_VALUE_COUNTS_H
#define TRACEFMT_VALUE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#define VALUE_COUNTS_MOST	64
#define VALUE_COUNTS_TEXT	80	/* bytes of a text that are kept */

struct value_count {
	uint64_t count;
	uint32_t hash;
	uint32_t length;
	char text[VALUE_COUNTS_TEXT];
};

struct value_counts {
	struct value_count *rows;	/* the caller frees them */
	size_t count, room;
	uint64_t others;
};

/* A text is cut to VALUE_COUNTS_TEXT bytes, with "..." at its end. 0 or -ENOMEM. */
int value_counts_add(struct value_counts *counts, const char *text,
		     size_t length);
/* The most frequent first. */
void value_counts_sort(struct value_counts *counts);

#endif

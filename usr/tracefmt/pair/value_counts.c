// SPDX-License-Identifier: GPL-2.0
#include "value_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/hash.h"

int value_counts_add(struct value_counts *counts, const char *text,
		     size_t length)
{
	/* The hash distinguishes texts that are cut to the same one. */
	struct value_count row = {
		.count = 1, .length = length,
		.hash = hash_fnv(HASH_FNV_START, text, length),
	};

	/* Cut the text, between two characters. */
	if (length > sizeof(row.text)) {
		length = sizeof(row.text) - 3;
		while (length && (text[length] & 0xc0) == 0x80)
			length--;
		memcpy(row.text + length, "...", 3);
		row.length = length + 3;
	}
	memcpy(row.text, text, length);

	for (size_t i = 0; i < counts->count; i++) {
		struct value_count *there = &counts->rows[i];

		if (there->hash == row.hash && there->length == row.length &&
		    !memcmp(there->text, row.text, row.length)) {
			there->count++;
			return 0;
		}
	}
	if (counts->count == VALUE_COUNTS_MOST) {
		counts->others++;
		return 0;
	}
	if (!array_grow(&counts->rows, counts->count, &counts->room,
			sizeof(*counts->rows)))
		return -ENOMEM;
	counts->rows[counts->count++] = row;
	return 0;
}

static int value_count_compare(const void *a, const void *b)
{
	const struct value_count *x = a, *y = b;
	size_t length = x->length < y->length ? x->length : y->length;
	int order;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	order = memcmp(x->text, y->text, length);
	return order ? order : (x->length > y->length) -
			       (x->length < y->length);
}

void value_counts_sort(struct value_counts *counts)
{
	if (counts->count)
		qsort(counts->rows, counts->count, sizeof(*counts->rows),
		      value_count_compare);
}

// SPDX-License-Identifier: GPL-2.0
#include "tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"

/* Cut at whole characters; the hash tells long texts apart. */
static struct tally_row row_make(const char *text, size_t length)
{
	struct tally_row row = { .count = 1, .length = length,
				 .hash = hash_fnv(HASH_FNV_START, text,
						  length) };

	if (length > sizeof(row.text)) {
		length = sizeof(row.text) - 3;
		while (length && (text[length] & 0xc0) == 0x80)
			length--;
		memcpy(row.text + length, "...", 3);
		row.length = length + 3;
	}
	memcpy(row.text, text, length);
	return row;
}

int tally_add(struct tally *tally, const char *text, size_t length)
{
	struct tally_row row = row_make(text, length);

	for (size_t i = 0; i < tally->count; i++) {
		struct tally_row *there = &tally->rows[i];

		if (there->hash == row.hash && there->length == row.length &&
		    !memcmp(there->text, row.text, row.length)) {
			there->count++;
			return 0;
		}
	}
	if (tally->count == TALLY_MOST) {
		tally->others++;
		return 0;
	}
	if (!(tally->count & (tally->count - 1))) {
		size_t room = tally->count ? 2 * tally->count : 1;
		struct tally_row *rows = reallocarray(tally->rows, room,
						      sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		tally->rows = rows;
	}
	tally->rows[tally->count++] = row;
	return 0;
}

static int row_compare(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;
	size_t length = x->length < y->length ? x->length : y->length;
	int order;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	order = memcmp(x->text, y->text, length);
	return order ? order : (x->length > y->length) -
			       (x->length < y->length);
}

void tally_sort(struct tally *tally)
{
	if (tally->count)
		qsort(tally->rows, tally->count, sizeof(*tally->rows),
		      row_compare);
}

void tally_free(struct tally *tally)
{
	free(tally->rows);
}

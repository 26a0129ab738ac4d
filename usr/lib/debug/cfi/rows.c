// SPDX-License-Identifier: GPL-2.0
#include "cfi.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define BLOCK_BYTES	(1u << UNWIND_BLOCK_SHIFT)
#define ENTRIES		(sizeof(((struct unwind_blocks *)0)->entries) / \
			 sizeof(uint32_t))

void cfi_rows_add(struct cfi_rows *rows, const struct unwind_row *row)
{
	if (rows->failed)
		return;
	if (!array_grow(&rows->items, rows->count, &rows->room,
			sizeof(*rows->items))) {
		rows->failed = true;
		return;
	}
	rows->items[rows->count++] = *row;
}

/* At the same place an end is before a beginning: the last one is kept. */
static int cfi_row_compare(const void *a, const void *b)
{
	const struct unwind_row *x = a, *y = b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return (x->kind != UNWIND_FRAME) - (y->kind != UNWIND_FRAME);
}

static bool row_same(const struct unwind_row *a, const struct unwind_row *b)
{
	return a->kind == b->kind && a->cfa == b->cfa && a->fp == b->fp &&
	       a->link == b->link;
}

void cfi_rows_sort(struct cfi_rows *rows)
{
	struct unwind_row first = { .kind = UNWIND_FRAME };
	size_t kept = 0;

	cfi_rows_add(rows, &first);
	if (rows->failed)
		return;
	qsort(rows->items, rows->count, sizeof(*rows->items), cfi_row_compare);
	for (size_t i = 0; i < rows->count; i++) {
		struct unwind_row *row = &rows->items[i];

		if (i + 1 < rows->count && row[1].pc == row->pc)
			continue;
		if (kept && row_same(&rows->items[kept - 1], row))
			continue;
		rows->items[kept++] = *row;
	}
	rows->count = kept;
}

uint32_t cfi_rows_blocks(uint64_t bytes)
{
	return (bytes / BLOCK_BYTES + ENTRIES) / ENTRIES;
}

void cfi_rows_index(const struct cfi_rows *rows, struct unwind_blocks *blocks,
		    uint32_t count)
{
	uint64_t row = 0;

	for (uint64_t i = 0; i < count * ENTRIES; i++) {
		uint64_t begin = i * BLOCK_BYTES, end = begin + BLOCK_BYTES;
		uint64_t next;

		while (row + 1 < rows->count &&
		       rows->items[row + 1].pc <= begin)
			row++;
		for (next = row + 1; next < rows->count &&
		     rows->items[next].pc < end; next++)
			;
		blocks[i / ENTRIES].entries[i % ENTRIES] =
			row << 8 | (next - row - 1);
		row = next - 1;
	}
}

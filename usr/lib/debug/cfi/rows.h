/* SPDX-License-Identifier: GPL-2.0 */
/* A module's rows while they are collected. */
#ifndef HEAPMON_UNWIND_ROWS_H
#define HEAPMON_UNWIND_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/unwind.h>

struct rows {
	struct unwind_row *items;
	size_t count, room;
	bool failed;		/* no memory: they aren't all */
};

/* Add one; rows of a function come one behind the other. */
void rows_add(struct rows *rows, const struct unwind_row *row);
/* Ascending, each differs from the one before, and pc 0 has one. What functions
 * end with (UNWIND_FRAME) gives way to a function that begins there. */
void rows_sort(struct rows *rows);
/* How many struct unwind_blocks `bytes` bytes of code have. */
uint32_t rows_blocks(uint64_t bytes);
void rows_index(const struct rows *rows, struct unwind_blocks *blocks,
		uint32_t count);
void rows_free(struct rows *rows);

#endif

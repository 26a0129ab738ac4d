// SPDX-License-Identifier: GPL-2.0
#include "table.h"

#include <stdlib.h>

#define TABLE_LEAST	64

static void table_put(struct heap_table *table, struct heap_slot slot)
{
	size_t at = slot.hash;

	while (table->slots[at & (table->size - 1)].number)
		at++;
	table->slots[at & (table->size - 1)] = slot;
}

bool heap_table_grow(struct heap_table *table)
{
	struct heap_table more = {
		.size = table->size ? table->size * 2 : TABLE_LEAST,
		.count = table->count,
	};

	if (table->count + 1 <= table->size / 4 * 3)
		return true;
	more.slots = calloc(more.size, sizeof(*more.slots));
	if (!more.slots)
		return false;
	for (size_t i = 0; i < table->size; i++)
		if (table->slots[i].number)
			table_put(&more, table->slots[i]);
	free(table->slots);
	*table = more;
	return true;
}

void heap_table_free(struct heap_table *table)
{
	free(table->slots);
	*table = (struct heap_table){ 0 };
}

// SPDX-License-Identifier: GPL-2.0
#include "picture_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "lib/formats/stack_number.h"

#define CHUNK_STACKS	4096	/* of a chunk, at most */

struct picture_table {
	uint16_t session;
	struct stack_table table;	/* no sets: it has none, or none any more */
};

void picture_stacks_note(struct picture_stacks *stacks, const struct ring *ring,
			 uint64_t key)
{
	struct ring_walk walk = { .position = ring->first };
	const struct ras_record *record;
	uint64_t stack;
	uint32_t id;

	while ((record = ring_next(ring, key, &walk))) {
		if (!stack_number_read(record, &id))
			continue;
		stack = stack_number_key(record->session, id);
		if (key_map_number(&stacks->known, stack))
			continue;
		if (!array_grow(&stacks->due, stacks->due_count,
				&stacks->due_room, sizeof(*stacks->due)) ||
		    key_map_add_number(&stacks->known, stack, 1)) {
			stacks->exhausted = true;
			return;
		}
		stacks->due[stacks->due_count++] = stack;
		stacks->stale = true;
	}
}

static const struct session *session_find(const struct session_list *list,
					  uint16_t index)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].entry->index == index)
			return &list->items[i];
	return NULL;
}

/* NULL: there is none. */
static const struct stack_table *table_get(struct picture_stacks *stacks,
					   const struct session_list *list,
					   uint16_t session)
{
	const struct session *from;
	struct picture_table *added;

	for (size_t i = 0; i < stacks->table_count; i++)
		if (stacks->tables[i].session == session)
			return &stacks->tables[i].table;
	from = session_find(list, session);
	if (!from || !array_grow(&stacks->tables, stacks->table_count,
				 &stacks->table_room, sizeof(*stacks->tables)))
		return NULL;
	added = &stacks->tables[stacks->table_count++];
	added->session = session;
	if (stack_table_open(&added->table, from, NULL))
		added->table = (struct stack_table){ 0 };
	return &added->table;
}

/* What was noted is in the tables: its records were there before. */
static void tables_refresh(struct picture_stacks *stacks)
{
	for (size_t i = 0; stacks->stale && i < stacks->table_count; i++)
		if (stacks->tables[i].table.sets)
			stack_table_refresh(&stacks->tables[i].table, NULL);
	stacks->stale = false;
}

bool picture_stacks_find(struct picture_stacks *stacks,
			 const struct session_list *list,
			 const struct ras_record *record,
			 struct stack_found *found)
{
	const struct stack_table *table;
	uint32_t id;

	if (!stack_number_read(record, &id))
		return false;
	tables_refresh(stacks);
	table = table_get(stacks, list, record->session);
	return table && stack_table_find(table, id, found);
}

size_t picture_stacks_bytes(const struct picture_stacks *stacks)
{
	return stacks->due_count * (sizeof(struct ras_stack_copy) +
				    TDF_STACK_MAX * sizeof(__u64));
}

static void stack_copy(struct chunk_out *out, uint32_t id,
		       const struct stack_found *found)
{
	struct ras_stack_copy copy = {
		.id = id, .count = found->count, .stack = found->stack,
	};

	chunk_add(out, &copy, sizeof(copy));
	chunk_add(out, found->addresses, found->count * sizeof(__u64));
}

static int due_compare(const void *a, const void *b)
{
	return array_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

void picture_stacks_write(struct picture_stacks *stacks,
			  const struct session_list *list,
			  struct chunk_out *out)
{
	size_t at = 0;

	if (stacks->exhausted && !out->error)
		out->error = -ENOMEM;
	tables_refresh(stacks);
	if (stacks->due_count)
		qsort(stacks->due, stacks->due_count, sizeof(*stacks->due),
		      due_compare);
	while (at < stacks->due_count) {
		struct ras_stacks head = { .session = stacks->due[at] >> 32 };
		const struct stack_table *table =
			table_get(stacks, list, head.session);
		size_t end = at + CHUNK_STACKS;
		struct stack_found found;

		chunk_begin(out);
		chunk_add(out, &head, sizeof(head));
		for (; at < stacks->due_count && at < end &&
		       stacks->due[at] >> 32 == head.session; at++)
			if (table && stack_table_find(table, stacks->due[at],
						      &found))
				stack_copy(out, stacks->due[at], &found);
		chunk_end(out, RAS_CHUNK_STACKS);
	}
	stacks->due_count = 0;
}

void picture_stacks_forget(struct picture_stacks *stacks)
{
	key_map_free(&stacks->known);
	stacks->due_count = 0;
}

void picture_stacks_free(struct picture_stacks *stacks)
{
	for (size_t i = 0; i < stacks->table_count; i++)
		stack_table_close(&stacks->tables[i].table);
	free(stacks->tables);
	free(stacks->due);
	key_map_free(&stacks->known);
	*stacks = (struct picture_stacks){ 0 };
}

/* SPDX-License-Identifier: GPL-2.0 */
/* A hash of numbers that stand for items of an array; nothing is taken out. */
#ifndef HEAPMON_TABLE_H
#define HEAPMON_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_table {
	struct heap_slot {
		uint32_t hash;
		uint32_t number;	/* 0: free */
	} *slots;
	size_t size;			/* a power of two, or 0 */
	size_t count;
};

#define HEAP_HASH_START	0x9e3779b97f4a7c15ULL

static inline uint64_t heap_hash(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0xff51afd7ed558ccdULL;
	return hash ^ hash >> 32;
}

/* Room for one more; false: no memory. */
bool heap_table_grow(struct heap_table *table);
void heap_table_free(struct heap_table *table);

/*
 * Where to look for `hash`: the slot of the first number with that hash behind
 * `at`, or a free one, to be filled in after heap_table_grow(). Begin at `at` =
 * hash; go on at the one behind. NULL: the table is empty.
 */
static inline struct heap_slot *heap_table_find(const struct heap_table *table,
						uint32_t hash, size_t *at)
{
	if (!table->size)
		return NULL;
	for (;; (*at)++) {
		struct heap_slot *slot = &table->slots[*at & (table->size - 1)];

		if (!slot->number || slot->hash == hash)
			return slot;
	}
}

static inline void heap_table_set(struct heap_table *table,
				  struct heap_slot *slot, uint32_t hash,
				  uint32_t number)
{
	*slot = (struct heap_slot){ hash, number };
	table->count++;
}

#endif

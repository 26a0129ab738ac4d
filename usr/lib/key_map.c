// SPDX-License-Identifier: GPL-2.0
#include "key_map.h"

#include <errno.h>
#include <stdlib.h>
#include "array.h"

#define SIZE_LEAST	64	/* a power of two */

static void slot_put(struct key_map *map, struct key_slot slot)
{
	size_t at = key_map_hash(map, slot.key);

	while (map->slots[at & (map->size - 1)].value)
		at++;
	map->slots[at & (map->size - 1)] = slot;
}

int key_map_reserve(struct key_map *map)
{
	struct key_map grown = {
		.size = map->size ? 2 * map->size : SIZE_LEAST,
		.count = map->count, .seed = map->seed,
	};
	size_t start = 0;

	if (2 * map->count < map->size)
		return 0;
	grown.slots = calloc(grown.size, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	/* Addresses are random. */
	if (!map->size)
		grown.seed = (uintptr_t)grown.slots * 0xd6e8feb86659fd93ULL;
	/* From a free slot on, to keep the order of the values of a key that
	 * go on from the last slot to the first. */
	while (map->size && map->slots[start].value)
		start++;
	for (size_t i = 0; i < map->size; i++) {
		struct key_slot slot =
			map->slots[(start + i) & (map->size - 1)];

		if (slot.value)
			slot_put(&grown, slot);
	}
	free(map->slots);
	*map = grown;
	return 0;
}

int key_map_add(struct key_map *map, uint64_t key, void *value)
{
	if (key_map_reserve(map))
		return -ENOMEM;
	slot_put(map, (struct key_slot){ key, value });
	map->count++;
	return 0;
}

/*
 * A search stops at the first free slot. So when a slot becomes free, the slots
 * after it, up to the next free one, are put again.
 */
void key_map_remove(struct key_map *map, uint64_t key, const void *value)
{
	size_t at = key_map_hash(map, key) & (map->size - 1);

	while (map->slots[at].key != key || map->slots[at].value != value)
		at = (at + 1) & (map->size - 1);
	map->slots[at].value = NULL;
	map->count--;
	for (;;) {
		struct key_slot slot;

		at = (at + 1) & (map->size - 1);
		slot = map->slots[at];
		if (!slot.value)
			return;
		map->slots[at].value = NULL;
		slot_put(map, slot);
	}
}

void *key_map_next(const struct key_map *map, size_t *at)
{
	while (*at < map->size) {
		void *value = map->slots[(*at)++].value;

		if (value)
			return value;
	}
	return NULL;
}

void key_map_free(struct key_map *map)
{
	free(map->slots);
	*map = (struct key_map){ 0 };
}

bool hash_index_add(struct hash_index *index, uint32_t hash, uint32_t number)
{
	if (!array_grow(&index->entries, index->count, &index->room,
			sizeof(*index->entries)))
		return false;
	index->entries[index->count++] = (struct hash_index_entry) {
		.hash = hash, .number = number,
	};
	return true;
}

bool hash_index_make(struct hash_index *index)
{
	size_t mask;

	index->bucket_count = 16;
	while (index->bucket_count < index->count)
		index->bucket_count *= 2;
	mask = index->bucket_count - 1;
	index->buckets = calloc(index->bucket_count, sizeof(*index->buckets));
	if (!index->buckets)
		return false;
	/* from the last one on, so that a bucket begins with the first */
	for (size_t i = index->count; i--; ) {
		struct hash_index_entry *entry = &index->entries[i];

		entry->next = index->buckets[entry->hash & mask];
		index->buckets[entry->hash & mask] = i + 1;
	}
	return true;
}

bool hash_index_next(const struct hash_index *index, uint32_t hash,
		     uint32_t *position, uint32_t *number)
{
	uint32_t at = *position ? index->entries[*position - 1].next :
				  index->buckets[hash &
						 (index->bucket_count - 1)];

	while (at && index->entries[at - 1].hash != hash)
		at = index->entries[at - 1].next;
	*position = at;
	if (at)
		*number = index->entries[at - 1].number;
	return at;
}

void hash_index_free(struct hash_index *index)
{
	free(index->entries);
	free(index->buckets);
	*index = (struct hash_index) { 0 };
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A map from keys - numbers, addresses - to what they stand for, by open
 * hashing. Nothing is taken out; at most half of it is full.
 */
#ifndef LIB_KEY_MAP_H
#define LIB_KEY_MAP_H

#include <stddef.h>
#include <stdint.h>

struct key_map {
	struct key_slot {
		uint64_t key;
		void *value;	/* NULL: free */
	} *slots;
	size_t size;		/* a power of two, or 0 */
	size_t count;
	uint64_t seed;		/* of where keys go: files can't choose that */
};

static inline size_t key_map_hash(const struct key_map *map, uint64_t key)
{
	return (key ^ map->seed) * 0x9e3779b97f4a7c15ULL >> 32;
}

/* NULL: it has none. */
static inline void *key_map_find(const struct key_map *map, uint64_t key)
{
	size_t at = key_map_hash(map, key);

	for (; map->size; at++) {
		const struct key_slot *slot =
			&map->slots[at & (map->size - 1)];

		if (!slot->value || slot->key == key)
			return slot->value;
	}
	return NULL;
}

/* Of a key that has none; the value isn't NULL. 0, or -ENOMEM. */
int key_map_add(struct key_map *map, uint64_t key, void *value);
/* The values, one after the other in no order: begin at *at = 0; NULL: no
 * more. */
void *key_map_next(const struct key_map *map, size_t *at);
void key_map_free(struct key_map *map);

/* Addresses as keys */
static inline uint64_t key_map_key(const void *address)
{
	return (uintptr_t)address;
}

/* Values that are numbers, 0 for what isn't there */
static inline uint64_t key_map_number(const struct key_map *map, uint64_t key)
{
	return (uintptr_t)key_map_find(map, key);
}

#endif

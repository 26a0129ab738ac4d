/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hash table: a map from 64-bit keys to values, by open addressing. A key
 * is a number, an address, or the hash of something longer. At most half of the
 * slots are used.
 *
 * Keys that are hashes may collide, so add several values with one key and
 * compare what key_map_each() returns:
 *
 *	uint64_t hash = key_map_mix(key_map_mix(0, pid), address);
 *	size_t step = 0;
 *
 *	while ((item = key_map_each(&map, hash, &step)))
 *		if (item->pid == pid && item->address == address)
 *			return item;
 */
#ifndef LIB_KEY_MAP_H
#define LIB_KEY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key_map {
	struct key_slot {
		uint64_t key;
		void *value;	/* NULL: free */
	} *slots;
	size_t size;		/* a power of two, or 0 */
	size_t count;
	uint64_t seed;		/* random, so that no file can make keys that
				 * all share a slot */
};

static inline size_t key_map_hash(const struct key_map *map, uint64_t key)
{
	return (key ^ map->seed) * 0x9e3779b97f4a7c15ULL >> 32;
}

/* The values of a key in the order in which they were added, one at each call:
 * begin at *step = 0. NULL: no more. */
static inline void *key_map_each(const struct key_map *map, uint64_t key,
				 size_t *step)
{
	size_t home = key_map_hash(map, key);

	while (map->size) {
		const struct key_slot *slot =
			&map->slots[(home + (*step)++) & (map->size - 1)];

		if (!slot->value || slot->key == key)
			return slot->value;
	}
	return NULL;
}

/* The value of a key that has at most one; NULL: it has none. */
static inline void *key_map_find(const struct key_map *map, uint64_t key)
{
	size_t step = 0;

	return key_map_each(map, key, &step);
}

/* Make room for one more: the next key_map_add() succeeds. 0 or -ENOMEM. */
int key_map_reserve(struct key_map *map);
/* The value isn't NULL. 0 or -ENOMEM. */
int key_map_add(struct key_map *map, uint64_t key, void *value);
/* Remove a value that was added with that key. */
void key_map_remove(struct key_map *map, uint64_t key, const void *value);
/* All values, in no order, one at each call: begin at *at = 0. NULL: no more. */
void *key_map_next(const struct key_map *map, size_t *at);
void key_map_free(struct key_map *map);

/* Add a number to a hash, to make one key of several numbers. */
static inline uint64_t key_map_mix(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * 0xff51afd7ed558ccdULL;
	return hash ^ hash >> 32;
}

/* Addresses as keys */
static inline uint64_t key_map_key(const void *address)
{
	return (uintptr_t)address;
}

/* Numbers as values, for example 1 + an index: 0 if the key has none. */
static inline uint64_t key_map_number(const struct key_map *map, uint64_t key)
{
	return (uintptr_t)key_map_find(map, key);
}

static inline uint64_t key_map_each_number(const struct key_map *map,
					   uint64_t key, size_t *step)
{
	return (uintptr_t)key_map_each(map, key, step);
}

static inline int key_map_add_number(struct key_map *map, uint64_t key,
				     uint64_t number)
{
	return key_map_add(map, key, (void *)(uintptr_t)number);
}

/* The serial number of a key, from 1, in the order in which keys are first asked
 * for. 0: no memory. */
static inline uint32_t key_map_serial(struct key_map *map, uint64_t key)
{
	uint64_t number = key_map_number(map, key);

	if (number)
		return number;
	number = map->count + 1;
	return key_map_add_number(map, key, number) ? 0 : number;
}

/* The same for pairs of numbers. */
struct key_pairs {
	struct key_map firsts;		/* numbers of the first ones */
	struct key_map numbers;		/* by number of the first, and second */
};

static inline uint32_t key_pairs_serial(struct key_pairs *pairs, uint64_t a,
					uint32_t b)
{
	uint64_t first = key_map_serial(&pairs->firsts, a);

	return first ? key_map_serial(&pairs->numbers, first << 32 | b) : 0;
}

static inline void key_pairs_free(struct key_pairs *pairs)
{
	key_map_free(&pairs->firsts);
	key_map_free(&pairs->numbers);
}

/* Numbers by the hash of a name. Those of one hash come in the order in which
 * they were added, which a key_map doesn't keep. */

struct hash_index {
	struct hash_index_entry {
		uint32_t hash, number;
		uint32_t next;	/* index + 1 of the next in the bucket */
	} *entries;
	size_t count, room;
	uint32_t *buckets;	/* NULL: not made yet */
	size_t bucket_count;	/* a power of two */
};

/* False: no memory. */
bool hash_index_add(struct hash_index *index, uint32_t hash, uint32_t number);
/* Call it after the last one was added. False: no memory. */
bool hash_index_make(struct hash_index *index);
/* The next number of the hash: begin at *position = 0. False: no more. */
bool hash_index_next(const struct hash_index *index, uint32_t hash,
		     uint32_t *position, uint32_t *number);
void hash_index_free(struct hash_index *index);

#endif

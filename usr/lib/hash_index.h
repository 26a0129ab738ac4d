/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers by the hash of a name. Those of one hash come in the order in which
 * they were added, which a key_map doesn't keep. */
#ifndef LIB_HASH_INDEX_H
#define LIB_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

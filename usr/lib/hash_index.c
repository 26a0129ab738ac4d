// SPDX-License-Identifier: GPL-2.0
#include "hash_index.h"

#include <stdlib.h>
#include "array.h"

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

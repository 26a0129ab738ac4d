// SPDX-License-Identifier: GPL-2.0
#include "index_set.h"

#include <stdlib.h>
#include "lib/array.h"

static uint64_t bit_of(uint64_t index)
{
	return UINT64_C(1) << index % 64;
}

static struct index_word *word_find(const struct index_set *set,
				    uint64_t index)
{
	uint32_t hash = heap_hash(HEAP_HASH_START, index / 64);
	struct heap_slot *slot;
	size_t at = hash;

	while ((slot = heap_table_find(&set->table, hash, &at)) &&
	       slot->number) {
		if (set->words[slot->number].place == index / 64)
			return &set->words[slot->number];
		at++;
	}
	return NULL;
}

static struct index_word *word_make(struct index_set *set, uint64_t index)
{
	uint32_t hash = heap_hash(HEAP_HASH_START, index / 64);
	size_t count = set->count ? set->count : 1;
	struct heap_slot *slot;
	size_t at = hash;

	if (!heap_table_grow(&set->table) ||
	    !array_grow(&set->words, count, &set->room, sizeof(*set->words)))
		return NULL;
	while ((slot = heap_table_find(&set->table, hash, &at))->number)
		at++;
	heap_table_set(&set->table, slot, hash, count);
	set->count = count + 1;
	set->words[count] = (struct index_word){ .place = index / 64 };
	return &set->words[count];
}

bool index_set_add(struct index_set *set, uint64_t index)
{
	struct index_word *word = word_find(set, index);

	if (!word)
		word = word_make(set, index);
	if (!word)
		return false;
	word->bits |= bit_of(index);
	return true;
}

bool index_set_has(const struct index_set *set, uint64_t index)
{
	const struct index_word *word = word_find(set, index);

	return word && word->bits & bit_of(index);
}

void index_set_remove(struct index_set *set, uint64_t index)
{
	struct index_word *word = word_find(set, index);

	if (word)
		word->bits &= ~bit_of(index);
}

void index_set_free(struct index_set *set)
{
	heap_table_free(&set->table);
	free(set->words);
	*set = (struct index_set){ 0 };
}

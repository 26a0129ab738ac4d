// SPDX-License-Identifier: GPL-2.0
#include "index_set.h"

#include <stdlib.h>
#include "lib/array.h"

bool index_set_add(struct index_set *set, uint64_t index)
{
	uint32_t word = key_map_serial(&set->words, index / 64);

	if (!word || !array_extend(&set->bits, &set->count, &set->room,
				   sizeof(*set->bits), word))
		return false;
	set->bits[word] |= UINT64_C(1) << index % 64;
	return true;
}

bool index_set_has(const struct index_set *set, uint64_t index)
{
	uint32_t word = key_map_number(&set->words, index / 64);

	return word && set->bits[word] >> index % 64 & 1;
}

void index_set_remove(struct index_set *set, uint64_t index)
{
	uint32_t word = key_map_number(&set->words, index / 64);

	set->bits[word] &= ~(UINT64_C(1) << index % 64);
}

void index_set_free(struct index_set *set)
{
	key_map_free(&set->words);
	free(set->bits);
	*set = (struct index_set){ 0 };
}

/* SPDX-License-Identifier: GPL-2.0 */
/* A set of indices of blocks. Starts as { 0 }. */
#ifndef HEAPMON_INDEX_SET_H
#define HEAPMON_INDEX_SET_H

#include <stdbool.h>
#include "lib/key_map.h"

struct index_set {
	struct key_map words;		/* numbers of words, by index / 64 */
	uint64_t *bits;			/* of each word */
	size_t count, room;
};

/* False: no memory. */
bool index_set_add(struct index_set *set, uint64_t index);
bool index_set_has(const struct index_set *set, uint64_t index);
/* One that is there. */
void index_set_remove(struct index_set *set, uint64_t index);
void index_set_free(struct index_set *set);

#endif

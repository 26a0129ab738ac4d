/* SPDX-License-Identifier: GPL-2.0 */
/* A set of numbers that are mostly close together. */
#ifndef HEAPMON_INDEX_SET_H
#define HEAPMON_INDEX_SET_H

#include "heapmon/core/table.h"

struct index_set {
	struct index_word {
		uint64_t place;		/* index / 64 */
		uint64_t bits;
	} *words;			/* from 1 */
	size_t count, room;
	struct heap_table table;	/* of words, by place */
};

/* False: no memory. */
bool index_set_add(struct index_set *set, uint64_t index);
bool index_set_has(const struct index_set *set, uint64_t index);
void index_set_remove(struct index_set *set, uint64_t index);
void index_set_free(struct index_set *set);

#endif

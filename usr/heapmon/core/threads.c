// SPDX-License-Identifier: GPL-2.0
#include "threads.h"

#include <stdlib.h>
#include "lib/array.h"

struct heap_thread *heap_threads_get(struct heap_threads *threads, uint32_t pid,
				     uint32_t tid)
{
	uint32_t hash = heap_hash(HEAP_HASH_START, (uint64_t)pid << 32 | tid);
	struct heap_thread *thread;
	struct heap_slot *slot;

	if (!heap_table_grow(&threads->table) ||
	    !array_grow(&threads->items, threads->count, &threads->room,
			sizeof(*threads->items)))
		return NULL;
	for (size_t at = hash;; at++) {
		slot = heap_table_find(&threads->table, hash, &at);
		if (!slot->number)
			break;
		thread = &threads->items[slot->number - 1];
		if (thread->pid == pid && thread->tid == tid)
			return thread;
	}
	thread = &threads->items[threads->count++];
	*thread = (struct heap_thread){ pid, tid, 0 };
	heap_table_set(&threads->table, slot, hash, threads->count);
	return thread;
}

void heap_threads_free(struct heap_threads *threads)
{
	free(threads->items);
	heap_table_free(&threads->table);
	*threads = (struct heap_threads){ 0 };
}

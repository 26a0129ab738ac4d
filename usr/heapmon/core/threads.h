/* SPDX-License-Identifier: GPL-2.0 */
/* The threads of all processes: when each was heard of last. */
#ifndef HEAPMON_THREADS_H
#define HEAPMON_THREADS_H

#include "table.h"

struct heap_thread {
	uint32_t pid, tid;
	uint64_t last;			/* number of its last event; 0: none */
};

struct heap_threads {
	struct heap_thread *items;
	size_t count, room;
	struct heap_table table;
};

/* Found or made; NULL: no memory. It stays until the next call. */
struct heap_thread *heap_threads_get(struct heap_threads *threads, uint32_t pid,
				     uint32_t tid);
void heap_threads_free(struct heap_threads *threads);

#endif

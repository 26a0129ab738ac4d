/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Free chunks that are marked as in use: each thread's cache (malloc/malloc.c,
 * struct tcache_perthread_struct), itself a block, and an arena's fastbins.
 */
#ifndef OLD_CACHE_H
#define OLD_CACHE_H

#include "chunks.h"
#include "stop.h"

/* Mark what is in the caches of all threads, those of threads that aren't there
 * any more (after a fork), too, and the caches themselves. How many chunks were
 * in them. */
uint64_t old_cache_mark(struct old_chunks *chunks, struct old_process *process,
			const struct old_stop *stop);
/* The same of a list that begins with the chunk at `chunk`. */
uint64_t old_cache_mark_list(struct old_chunks *chunks,
			     const struct old_process *process,
			     uint64_t chunk);

#endif

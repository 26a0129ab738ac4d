/* SPDX-License-Identifier: GPL-2.0 */
/* The arenas of glibc's allocator, and the memory that they have. */
#ifndef OLD_ARENAS_H
#define OLD_ARENAS_H

#include "chunks.h"

#define ARENAS_MOST	8192

/* Where things are in an arena, in bytes. */
struct old_arena_layout {
	unsigned int fastbins, fastbin_count;
	unsigned int top, bins, next, system;
	unsigned int size;
};

struct old_arena {
	const struct old_process *process;
	struct old_arena_layout layout;
	uint64_t main;		/* address of the main arena */
	const struct old_region *data;	/* where that lies */
};

/*
 * The next one with `data` after that region (NULL: from the first on); a
 * process may have several copies of libc. 1, 0: there is none, or a negative
 * errno with err set.
 */
int old_arena_find(struct old_arena *arena, const struct old_process *process,
		   struct error *err);
/* The next one in the ring; 0: it is the main arena again, or can't be read. */
uint64_t old_arena_next(const struct old_arena *arena, uint64_t at);
/* How many locks are held: somebody is at work there. */
unsigned int old_arena_locks(const struct old_arena *arena);

struct old_heaps {
	uint32_t arenas, heaps;
	uint64_t main;		/* where the main arena's memory begins; 0 */
};

/* Add the chunks in use of all arenas of the ring. 0; or -EILSEQ with err set:
 * what could be walked was. */
int old_heaps_walk(struct old_heaps *heaps, struct old_chunks *chunks,
		   const struct old_arena *arena, struct error *err);

/* Large chunks that have a mapping of their own (malloc/malloc.c, sysmalloc_mmap
 * and struct malloc_par, which counts them): how many were found. 0; or -EILSEQ
 * with err set: fewer or more than the allocator has. */
int old_mapped_find(struct old_chunks *chunks, const struct old_arena *arena,
		    const struct old_heaps *heaps, uint32_t *found,
		    struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of an arena: for the main one what sbrk gave, and mappings where it
 * gave nothing; for a thread's a list of heaps (malloc/arena.c, struct
 * heap_info), each at a multiple of its greatest size.
 */
#ifndef OLD_HEAPS_H
#define OLD_HEAPS_H

#include "arena.h"

struct old_heaps {
	uint32_t arenas, heaps;
	uint64_t main;		/* where the main arena's memory begins; 0 */
};

/* Add the chunks in use of all arenas of the ring. 0; or -EILSEQ with err set:
 * what could be walked was. */
int old_heaps_walk(struct old_heaps *heaps, struct old_chunks *chunks,
		   struct old_process *process, const struct old_arena *arena,
		   struct error *err);

#endif

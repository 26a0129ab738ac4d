/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arenas of glibc's allocator (malloc/malloc.c, struct malloc_state;
 * malloc/arena.c), found without symbols: an empty bin leads to itself, and
 * there are 127 in a row in the data of libc, or of a static program.
 */
#ifndef OLD_ARENA_H
#define OLD_ARENA_H

#include "chunks.h"

/* Where things are in an arena, in bytes. */
struct old_arena_layout {
	unsigned int fastbins, fastbin_count;
	unsigned int top, bins, next, system;
	unsigned int size;
};

struct old_arena {
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
/* The next one in the ring; 0: it can't be read. */
uint64_t old_arena_next(const struct old_arena *arena,
			const struct old_process *process, uint64_t at);
/* How many locks are held: somebody is at work there. */
unsigned int old_arena_locks(const struct old_arena *arena,
		      const struct old_process *process);

#define ARENAS_MOST	8192

#endif

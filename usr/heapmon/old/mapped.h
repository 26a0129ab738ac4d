/* SPDX-License-Identifier: GPL-2.0 */
/* Large chunks that have a mapping of their own (malloc/malloc.c, sysmalloc_mmap
 * and struct malloc_par, which counts them). */
#ifndef OLD_MAPPED_H
#define OLD_MAPPED_H

#include "arenas.h"

/* How many were found. 0; or -EILSEQ with err set: fewer or more than the
 * allocator has. */
int old_mapped_find(struct old_chunks *chunks, const struct old_arena *arena,
		    const struct old_heaps *heaps, uint32_t *found,
		    struct error *err);

#endif

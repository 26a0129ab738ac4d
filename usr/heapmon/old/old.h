/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Blocks on the heap of a running process, read from outside: glibc's arenas
 * (malloc/malloc.c, malloc/arena.c of 2.26 and later). The process is stopped
 * while its chunks are walked.
 */
#ifndef HEAPMON_OLD_H
#define HEAPMON_OLD_H

#include <stdbool.h>
#include <stdint.h>
#include <rastrace/heap.h>
#include "lib/error.h"

struct old_figures {
	uint64_t blocks, bytes;
	uint32_t arenas, heaps, mapped;	/* mapped: chunks of their own */
	uint64_t cached;		/* chunks in tcache and fastbins: left out */
	uint64_t time;			/* CLOCK_BOOTTIME, ns: before it was let
					 * go; known when `take` is called */
	uint64_t stopped;		/* ns */
	uint32_t why;			/* RAS_HEAP_OLD_*; not WHOLE: see err */
};

struct old_block {
	uint64_t address, size;		/* size: bytes that can be used */
	uint64_t word;			/* the first one in it, as wide as a
					 * pointer: of an object, where its vtable
					 * is */
	bool has_word;			/* it could be read */
};

/*
 * Stop the process, walk, let it go. `take` gets every block that is in use, as
 * it was then. Even when it can't be (whole),
 * figures are right and the process runs on. 0, or a negative errno with err
 * set.
 */
int old_walk(uint32_t pid,
	     int (*take)(void *context, const struct old_block *block),
	     void *context, struct old_figures *figures, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process's memory without a file, as far as the kernel's events show it: they
 * report a whole mapping when it was made or became bigger, and nothing when it
 * goes.
 */
#ifndef HEAPMON_GROWTH_H
#define HEAPMON_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct growth_range {
	uint64_t start, end;
};

struct growth {
	uint64_t brk;			/* end of the heap; 0: none */
	struct growth_range *items;	/* as reported, ascending */
	size_t count, room;
};

/* What is new of a mapping. One that was reported before, in the same size, is
 * another one at the same place. */
void growth_take(struct growth *growth, struct growth_range range,
		 void (*take)(void *context, struct growth_range range),
		 void *context);
/* The same of the heap: new when the range isn't empty. */
struct growth_range growth_take_brk(struct growth *growth,
				    struct growth_range heap);
bool growth_copy(struct growth *growth, const struct growth *from);
void growth_free(struct growth *growth);

#endif

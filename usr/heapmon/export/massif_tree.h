/* SPDX-License-Identifier: GPL-2.0 */
/* The heap_tree of a massif snapshot: what is allocated, by callers. */
#ifndef HEAPMON_MASSIF_TREE_H
#define HEAPMON_MASSIF_TREE_H

#include <stdio.h>
#include "heapmon/core/trace.h"

struct massif_leaf {
	uint32_t stack;
	uint64_t bytes;
};

/* Write the tree of `count` leaves, which are changed by it; `total` bytes are
 * all that are. 0 or -ENOMEM. */
int massif_tree_write(FILE *out, const struct heap_trace *trace,
		      struct massif_leaf *leaves, size_t count, uint64_t total);

#endif

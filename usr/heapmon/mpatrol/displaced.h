/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HEAPMON_DISPLACED_H
#define HEAPMON_DISPLACED_H

#include "heapmon/core/model.h"

/* The block in whose place another one came: its free was lost. NULL: there was
 * none. */
static inline const struct heap_block *
mpatrol_displaced(const struct heap_step *step)
{
	if (step->event->kind == HEAP_REALLOC)
		return step->lost;
	return step->came ? step->gone : NULL;
}

#endif

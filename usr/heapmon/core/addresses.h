/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers in ascending order of an address each: leaves of some hundred, and an
 * index of the leaves. Starts as { 0 }. */
#ifndef HEAPMON_ADDRESSES_H
#define HEAPMON_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_addresses {
	uint64_t *lows;			/* where each leaf begins; the first one:
					 * 0, or anywhere */
	struct heap_leaf **leaves;	/* none is empty */
	size_t count;
	size_t low_room, leaf_room;
};

/* An address that isn't there yet. false: no memory. */
bool heap_addresses_add(struct heap_addresses *addresses, uint64_t address,
			uint32_t number);
/* One that is there. */
void heap_addresses_remove(struct heap_addresses *addresses, uint64_t address);
/* The number of the highest address up to this one; 0: there is none. */
uint32_t heap_addresses_upto(const struct heap_addresses *addresses,
			     uint64_t address);
void heap_addresses_free(struct heap_addresses *addresses);

#endif

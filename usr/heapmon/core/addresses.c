// SPDX-License-Identifier: GPL-2.0
#include "addresses.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define LEAF_ROOM	256

struct heap_leaf {
	size_t count;
	uint64_t addresses[LEAF_ROOM];	/* ascending */
	uint32_t numbers[LEAF_ROOM];
};

/* Where the address is, or belongs: how many of the leaf's are below it. */
static size_t leaf_place(const struct heap_leaf *leaf, uint64_t address)
{
	if (!address)
		return 0;
	return array_count_upto(leaf->addresses, leaf->count,
				sizeof(*leaf->addresses), address - 1);
}

/* The leaf that has the address if any has it: the last that begins at or below
 * it, or the first one, wherever it begins. */
static size_t leaf_of(const struct heap_addresses *addresses, uint64_t address)
{
	size_t at = array_count_upto(addresses->lows, addresses->count,
				     sizeof(*addresses->lows), address);

	return at ? at - 1 : 0;
}

static void leaf_move(struct heap_leaf *to, size_t at, struct heap_leaf *from,
		      size_t first, size_t count)
{
	memmove(to->addresses + at, from->addresses + first,
		count * sizeof(*to->addresses));
	memmove(to->numbers + at, from->numbers + first,
		count * sizeof(*to->numbers));
}

/* A new leaf in front of the one at `at`; NULL: no memory. */
static struct heap_leaf *address_leaf_add(struct heap_addresses *addresses,
					  size_t at)
{
	size_t count = addresses->count, after = count - at;
	struct heap_leaf *leaf = malloc(sizeof(*leaf));

	if (!leaf || !array_grow(&addresses->lows, count, &addresses->low_room,
				 sizeof(*addresses->lows)) ||
	    !array_grow(&addresses->leaves, count, &addresses->leaf_room,
			sizeof(*addresses->leaves))) {
		free(leaf);
		return NULL;
	}
	memmove(addresses->lows + at + 1, addresses->lows + at,
		after * sizeof(*addresses->lows));
	memmove(addresses->leaves + at + 1, addresses->leaves + at,
		after * sizeof(*addresses->leaves));
	addresses->lows[at] = 0;
	addresses->leaves[at] = leaf;
	addresses->count++;
	leaf->count = 0;
	return leaf;
}

/* A full leaf into halves. */
static bool leaf_split(struct heap_addresses *addresses, size_t at)
{
	struct heap_leaf *leaf = addresses->leaves[at], *upper;
	size_t half = LEAF_ROOM / 2;

	upper = address_leaf_add(addresses, at + 1);
	if (!upper)
		return false;
	leaf_move(upper, 0, leaf, half, LEAF_ROOM - half);
	upper->count = LEAF_ROOM - half;
	leaf->count = half;
	addresses->lows[at + 1] = upper->addresses[0];
	return true;
}

bool heap_addresses_add(struct heap_addresses *addresses, uint64_t address,
			uint32_t number)
{
	size_t at = leaf_of(addresses, address), place;
	struct heap_leaf *leaf;

	if (!addresses->count) {
		if (!address_leaf_add(addresses, 0))
			return false;
	} else if (addresses->leaves[at]->count == LEAF_ROOM) {
		if (!leaf_split(addresses, at))
			return false;
		at = leaf_of(addresses, address);
	}
	leaf = addresses->leaves[at];
	place = leaf_place(leaf, address);
	leaf_move(leaf, place + 1, leaf, place, leaf->count - place);
	leaf->addresses[place] = address;
	leaf->numbers[place] = number;
	leaf->count++;
	return true;
}

static void leaf_drop(struct heap_addresses *addresses, size_t at)
{
	size_t after = --addresses->count - at;

	free(addresses->leaves[at]);
	memmove(addresses->lows + at, addresses->lows + at + 1,
		after * sizeof(*addresses->lows));
	memmove(addresses->leaves + at, addresses->leaves + at + 1,
		after * sizeof(*addresses->leaves));
}

void heap_addresses_remove(struct heap_addresses *addresses, uint64_t address)
{
	size_t at = leaf_of(addresses, address);
	struct heap_leaf *leaf = addresses->leaves[at];
	size_t place = leaf_place(leaf, address);

	leaf->count--;
	leaf_move(leaf, place, leaf, place + 1, leaf->count - place);
	if (!leaf->count)
		leaf_drop(addresses, at);
}

uint32_t heap_addresses_upto(const struct heap_addresses *addresses,
			     uint64_t address)
{
	const struct heap_leaf *leaf;
	size_t at, place;

	if (!addresses->count)
		return 0;
	at = leaf_of(addresses, address);
	leaf = addresses->leaves[at];
	place = array_count_upto(leaf->addresses, leaf->count,
				 sizeof(*leaf->addresses), address);
	if (place)
		return leaf->numbers[place - 1];
	if (!at)
		return 0;
	leaf = addresses->leaves[at - 1];
	return leaf->numbers[leaf->count - 1];
}

void heap_addresses_free(struct heap_addresses *addresses)
{
	for (size_t i = 0; i < addresses->count; i++)
		free(addresses->leaves[i]);
	free(addresses->lows);
	free(addresses->leaves);
	*addresses = (struct heap_addresses){ 0 };
}

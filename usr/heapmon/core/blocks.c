// SPDX-License-Identifier: GPL-2.0
#include "blocks.h"

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

#define GENERATIONS	64	/* of parents that are asked for a block */

/* ---- processes ---- */

static uint64_t process_key(uint32_t pid, bool maps)
{
	return (uint64_t)pid << 1 | maps;
}

struct heap_process *heap_process_find(const struct heap_processes *processes,
				       uint32_t pid, bool maps)
{
	struct heap_process *process = key_map_find(&processes->newest,
						    process_key(pid, maps));

	return process && !process->ended ? process : NULL;
}

struct heap_process *heap_process_get(struct heap_processes *processes,
				      uint32_t pid, bool maps)
{
	uint64_t key = process_key(pid, maps);
	struct heap_process *process = key_map_find(&processes->newest, key);

	if (process && !process->ended)
		return process;
	if (process)
		key_map_remove(&processes->newest, key, process);
	process = calloc(1, sizeof(*process));
	if (!process || key_map_add(&processes->newest, key, process)) {
		free(process);
		return NULL;
	}
	process->pid = pid;
	process->maps = maps;
	process->next = processes->first;
	processes->first = process;
	return process;
}

void heap_process_end(struct heap_process *process)
{
	struct heap_entry *entries;
	size_t count;

	process->ended = true;
	for (size_t i = 1; i < process->count; i++)
		process->entries[i].block.left = true;
	if (!process->forks) {
		/* Freed blocks are not looked for any more. Keep only those
		 * that are left. */
		count = 1;
		for (size_t i = 1; i < process->count; i++)
			if (process->entries[i].live)
				process->entries[count++] =
					process->entries[i];
		key_map_free(&process->numbers);
		heap_addresses_free(&process->live);
		if (process->count) {
			entries = realloc(
				process->entries,
				count * sizeof(*entries));
			if (entries)
				process->entries = entries;
			process->count = count;
		}
	}
}

void heap_processes_free(struct heap_processes *processes)
{
	struct heap_process *next;

	for (struct heap_process *process = processes->first; process;
	     process = next) {
		next = process->next;
		free(process->entries);
		key_map_free(&process->numbers);
		heap_addresses_free(&process->live);
		free(process);
	}
	key_map_free(&processes->newest);
	*processes = (struct heap_processes){ 0 };
}

/* ---- blocks ---- */

struct heap_entry *heap_process_entry(const struct heap_process *process,
				      uint64_t address)
{
	uint64_t number = key_map_number(&process->numbers, address);

	return number ? &process->entries[number] : NULL;
}

const struct heap_block *heap_process_inherited(
			const struct heap_process *process, uint64_t address)
{
	uint64_t forked = process->forked;
	const struct heap_process *parent = process->parent;

	for (int i = 0; parent && i < GENERATIONS; i++) {
		const struct heap_entry *entry =
			heap_process_entry(parent, address);

		if (entry && entry->changed <= forked)
			return entry->live ? &entry->block : NULL;
		if (entry)	/* since then: freed, or another one */
			return !entry->live && entry->block.number <= forked ?
			       &entry->block : NULL;
		if (parent->forked < forked)
			forked = parent->forked;
		parent = parent->parent;
	}
	return NULL;
}

struct heap_entry *heap_process_add(struct heap_process *process,
				    const struct heap_block *block)
{
	uint32_t number = key_map_serial(&process->numbers, block->address);
	struct heap_entry *entry;

	if (!number || !array_extend(&process->entries, &process->count,
				     &process->room,
				     sizeof(*process->entries), number) ||
	    !heap_addresses_add(&process->live, block->address, number))
		return NULL;
	entry = &process->entries[number];
	entry->block = *block;
	entry->live = true;
	return entry;
}

void heap_process_remove(struct heap_process *process,
			 struct heap_entry *entry)
{
	heap_addresses_remove(&process->live, entry->block.address);
	entry->live = false;
}

struct heap_entry *heap_process_upto(const struct heap_process *process,
				     uint64_t address)
{
	uint32_t number = heap_addresses_upto(&process->live, address);

	return number ? &process->entries[number] : NULL;
}

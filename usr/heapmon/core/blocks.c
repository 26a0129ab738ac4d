// SPDX-License-Identifier: GPL-2.0
#include "blocks.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define LEAF_ROOM	256
#define GENERATIONS	64	/* of parents that are asked for a block */

/* ---- addresses ---- */

struct heap_leaf {
	size_t count;
	struct {
		uint64_t address;	/* ascending */
		uint32_t number;
	} items[LEAF_ROOM];
};

/* The leaf that has the address if any has it: the last that begins at or below
 * it, or the first one, wherever it begins. */
static size_t leaf_of(const struct heap_addresses *addresses, uint64_t address)
{
	size_t at = array_count_upto(addresses->leaves, addresses->count,
				     sizeof(*addresses->leaves), address);

	return at ? at - 1 : 0;
}

/* How many of its addresses are not above this one. */
static size_t leaf_upto(const struct heap_leaf *leaf, uint64_t address)
{
	return array_count_upto(leaf->items, leaf->count, sizeof(*leaf->items),
				address);
}

/* A new leaf in front of the one at `at`; NULL: no memory. */
static struct heap_leaf *address_leaf_add(struct heap_addresses *addresses,
					  size_t at)
{
	struct heap_leaf *leaf = malloc(sizeof(*leaf));

	if (!leaf || !array_grow(&addresses->leaves, addresses->count,
				 &addresses->room, sizeof(*addresses->leaves))) {
		free(leaf);
		return NULL;
	}
	memmove(&addresses->leaves[at + 1], &addresses->leaves[at],
		(addresses->count++ - at) * sizeof(*addresses->leaves));
	addresses->leaves[at].low = 0;
	addresses->leaves[at].leaf = leaf;
	leaf->count = 0;
	return leaf;
}

/* A full leaf into halves. */
static bool leaf_split(struct heap_addresses *addresses, size_t at)
{
	struct heap_leaf *leaf = addresses->leaves[at].leaf, *upper;

	upper = address_leaf_add(addresses, at + 1);
	if (!upper)
		return false;
	upper->count = leaf->count / 2;
	leaf->count -= upper->count;
	memcpy(upper->items, leaf->items + leaf->count,
	       upper->count * sizeof(*upper->items));
	addresses->leaves[at + 1].low = upper->items[0].address;
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
	} else if (addresses->leaves[at].leaf->count == LEAF_ROOM) {
		if (!leaf_split(addresses, at))
			return false;
		at = leaf_of(addresses, address);
	}
	leaf = addresses->leaves[at].leaf;
	place = leaf_upto(leaf, address);
	memmove(&leaf->items[place + 1], &leaf->items[place],
		(leaf->count++ - place) * sizeof(*leaf->items));
	leaf->items[place].address = address;
	leaf->items[place].number = number;
	return true;
}

void heap_addresses_remove(struct heap_addresses *addresses, uint64_t address)
{
	size_t at = leaf_of(addresses, address);
	struct heap_leaf *leaf = addresses->leaves[at].leaf;
	size_t place = leaf_upto(leaf, address);

	memmove(&leaf->items[place - 1], &leaf->items[place],
		(leaf->count-- - place) * sizeof(*leaf->items));
	if (leaf->count)
		return;
	free(leaf);
	memmove(&addresses->leaves[at], &addresses->leaves[at + 1],
		(--addresses->count - at) * sizeof(*addresses->leaves));
}

uint32_t heap_addresses_upto(const struct heap_addresses *addresses,
			     uint64_t address)
{
	const struct heap_leaf *leaf;
	size_t at, place;

	if (!addresses->count)
		return 0;
	at = leaf_of(addresses, address);
	leaf = addresses->leaves[at].leaf;
	place = leaf_upto(leaf, address);
	if (!place && at) {
		leaf = addresses->leaves[at - 1].leaf;
		place = leaf->count;
	}
	return place ? leaf->items[place - 1].number : 0;
}

void heap_addresses_free(struct heap_addresses *addresses)
{
	for (size_t i = 0; i < addresses->count; i++)
		free(addresses->leaves[i].leaf);
	free(addresses->leaves);
	*addresses = (struct heap_addresses){ 0 };
}

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
	size_t count = 1;

	process->ended = true;
	for (size_t i = 1; i < process->count; i++)
		process->entries[i].block.left = true;
	if (process->forks || !process->count)
		return;
	/* Freed blocks are not looked for any more. Keep only those left. */
	for (size_t i = 1; i < process->count; i++)
		if (process->entries[i].live)
			process->entries[count++] = process->entries[i];
	key_map_free(&process->numbers);
	heap_addresses_free(&process->live);
	process->count = count;
	entries = realloc(process->entries, count * sizeof(*entries));
	if (entries)
		process->entries = entries;
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

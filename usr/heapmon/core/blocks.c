// SPDX-License-Identifier: GPL-2.0
#include "blocks.h"

#include <stdlib.h>
#include "lib/array.h"

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

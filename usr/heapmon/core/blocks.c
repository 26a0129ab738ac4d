// SPDX-License-Identifier: GPL-2.0
#include "blocks.h"

#include <stdlib.h>
#include "lib/array.h"

#define GENERATIONS	64	/* of parents that are asked for a block */

/* ---- processes ---- */

static uint32_t process_hash(uint32_t pid, bool maps)
{
	return heap_hash(HEAP_HASH_START, (uint64_t)pid << 1 | maps);
}

/* The slot of the id; NULL: no table, or it isn't there. */
static struct heap_slot *process_slot(const struct heap_processes *processes,
				      uint32_t pid, bool maps)
{
	uint32_t hash = process_hash(pid, maps);
	struct heap_slot *slot;
	size_t at = hash;

	for (;; at++) {
		slot = heap_table_find(&processes->table, hash, &at);
		if (!slot || !slot->number)
			return NULL;
		if (processes->running[slot->number]->pid == pid &&
		    processes->running[slot->number]->maps == maps)
			return slot;
	}
}

struct heap_process *heap_process_find(struct heap_processes *processes,
				       uint32_t pid, bool maps)
{
	struct heap_process *process = processes->recent;
	struct heap_slot *slot;

	if (!process || process->pid != pid || process->maps != maps) {
		slot = process_slot(processes, pid, maps);
		if (!slot)
			return NULL;
		process = processes->running[slot->number];
		processes->recent = process;
	}
	return process->ended ? NULL : process;
}

/* Among the running ones, in the place of an older one with its id. */
static bool process_enter(struct heap_processes *processes,
			  struct heap_process *process)
{
	uint32_t hash = process_hash(process->pid, process->maps);
	struct heap_slot *slot = process_slot(processes, process->pid,
					      process->maps);
	size_t at = hash;

	if (slot) {
		processes->running[slot->number] = process;
		return true;
	}
	if (!processes->count)
		processes->count = 1;
	if (!heap_table_grow(&processes->table) ||
	    !array_grow(&processes->running, processes->count,
			&processes->room, sizeof(*processes->running)))
		return false;
	while ((slot = heap_table_find(&processes->table, hash, &at))->number)
		at++;
	heap_table_set(&processes->table, slot, hash, processes->count);
	processes->running[processes->count++] = process;
	return true;
}

struct heap_process *heap_process_get(struct heap_processes *processes,
				      uint32_t pid, bool maps)
{
	struct heap_process *process = heap_process_find(processes, pid, maps);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->maps = maps;
	if (!process_enter(processes, process)) {
		free(process);
		return NULL;
	}
	process->next = processes->first;
	processes->first = process;
	processes->recent = process;
	return process;
}

/* Nobody asks for freed blocks any more: only those that are left stay. */
static void process_shrink(struct heap_process *process)
{
	struct heap_entry *entries;
	size_t count = 1;

	for (size_t i = 1; i < process->count; i++)
		if (process->entries[i].live)
			process->entries[count++] = process->entries[i];
	heap_table_free(&process->table);
	heap_addresses_free(&process->live);
	if (!process->count)
		return;
	entries = realloc(process->entries, count * sizeof(*entries));
	if (entries)
		process->entries = entries;
	process->count = count;
}

void heap_process_end(struct heap_process *process)
{
	process->ended = true;
	for (size_t i = 1; i < process->count; i++)
		process->entries[i].block.left = true;
	if (!process->forks)
		process_shrink(process);
}

void heap_processes_free(struct heap_processes *processes)
{
	struct heap_process *next;

	for (struct heap_process *process = processes->first; process;
	     process = next) {
		next = process->next;
		free(process->entries);
		heap_table_free(&process->table);
		heap_addresses_free(&process->live);
		free(process);
	}
	free(processes->running);
	heap_table_free(&processes->table);
	*processes = (struct heap_processes){ 0 };
}

/* ---- blocks ---- */

static uint32_t address_hash(uint64_t address)
{
	return heap_hash(HEAP_HASH_START, address);
}

struct heap_entry *heap_process_entry(const struct heap_process *process,
				      uint64_t address)
{
	uint32_t hash = address_hash(address);
	struct heap_slot *slot;
	size_t at = hash;

	for (;; at++) {
		slot = heap_table_find(&process->table, hash, &at);
		if (!slot || !slot->number)
			return NULL;
		if (process->entries[slot->number].block.address == address)
			return &process->entries[slot->number];
	}
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

static struct heap_entry *entry_make(struct heap_process *process,
				     uint64_t address)
{
	uint32_t hash = address_hash(address);
	struct heap_slot *slot;
	size_t at = hash;

	if (!process->count)
		process->count = 1;
	if (!heap_table_grow(&process->table) ||
	    !array_grow(&process->entries, process->count, &process->room,
			sizeof(*process->entries)))
		return NULL;
	while ((slot = heap_table_find(&process->table, hash, &at))->number)
		at++;
	heap_table_set(&process->table, slot, hash, process->count);
	process->entries[process->count] = (struct heap_entry){
		.block.address = address,
	};
	return &process->entries[process->count++];
}

struct heap_entry *heap_process_add(struct heap_process *process,
				    const struct heap_block *block)
{
	struct heap_entry *entry = heap_process_entry(process, block->address);

	if (!entry)
		entry = entry_make(process, block->address);
	if (!entry || !heap_addresses_add(&process->live, block->address,
					  entry - process->entries))
		return NULL;
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

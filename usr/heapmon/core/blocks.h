/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The blocks of a process: by address, those that live and those that were freed
 * last there; and the ones that live in the order of their addresses. Pages that
 * the program maps (mmap) are a process of their own in this sense: blocks lie
 * in them.
 */
#ifndef HEAPMON_BLOCKS_H
#define HEAPMON_BLOCKS_H

#include "model.h"

/* Numbers in ascending order of an address each: leaves of some hundred, and an
 * index of the leaves. Starts as { 0 }. */
struct heap_addresses {
	struct {
		uint64_t low;		/* where it begins; the first one: 0, or
					 * anywhere */
		struct heap_leaf *leaf;	/* not empty */
	} *leaves;
	size_t count, room;
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

struct heap_entry {
	struct heap_block block;	/* of one that was freed: as it was */
	bool live;
	uint64_t changed;		/* number of the event that made it so */
	uint64_t displaced;		/* of the last event that brought a
					 * block where one lived */
	uint32_t lost;			/* blocks that went by such: a REALLOC
					 * that is under way may have them */
	uint64_t doubted;		/* of the last event that was called
					 * wrong for the sake of a block here */
};

struct heap_process {
	uint32_t pid;
	bool maps;
	struct heap_process *parent;	/* whose blocks it began with; or NULL */
	uint64_t forked;		/* event number then */
	bool forks;			/* others have this one for a parent */
	bool ended;
	struct heap_entry *entries;	/* numbered from 1; [0] is unused */
	size_t count, room;
	struct key_map numbers;		/* of entries, by address */
	struct heap_addresses live;	/* numbers of entries */
	uint64_t last;			/* number of its last ALLOC, REALLOC */
	struct heap_process *next;	/* of all, newest first */
};

/* The one with that id that hasn't ended, made when there is none; NULL: no
 * memory. */
struct heap_process *heap_process_get(struct heap_processes *processes,
				      uint32_t pid, bool maps);
/* The one with that id that hasn't ended; NULL: there is none. */
struct heap_process *heap_process_find(const struct heap_processes *processes,
				       uint32_t pid, bool maps);
/* Its blocks that live are left; the next one with its id is another one. */
void heap_process_end(struct heap_process *process);
void heap_processes_free(struct heap_processes *processes);

/* What is known of a block at that address, or NULL. */
struct heap_entry *heap_process_entry(const struct heap_process *process,
				      uint64_t address);
/* The block of a parent that was there when the process began, at an address
 * where it has no entry of its own; NULL: there was none. */
const struct heap_block *heap_process_inherited(
			const struct heap_process *process, uint64_t address);
/* A block lives now, where none did; NULL: no memory. Other entries may have
 * moved. */
struct heap_entry *heap_process_add(struct heap_process *process,
				    const struct heap_block *block);
/* It is no longer. */
void heap_process_remove(struct heap_process *process,
			 struct heap_entry *entry);
/* The block that lives with the highest address up to this one; NULL: none. */
struct heap_entry *heap_process_upto(const struct heap_process *process,
				     uint64_t address);

#endif

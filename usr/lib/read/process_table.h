/* SPDX-License-Identifier: GPL-2.0 */
/* The process table: names of processes, and what was mapped at an address. */
#ifndef LIB_READ_PROCESS_TABLE_H
#define LIB_READ_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/rasfile.h>
#include "lib/key_map.h"

#define PROCESS_KERNEL	0	/* the kernel's pid */
#define PROCESS_NAMES	4	/* of a process, the newest ones */

struct process_entry {
	uint32_t pid;
	struct ras_mapping *maps;	/* ascending */
	uint32_t map_count;
	uint64_t map_order;		/* the older, the less */
	char comm[16];			/* when the maps were taken */
	struct {
		uint64_t since;
		char comm[16];
	} names[PROCESS_NAMES];		/* ascending */
	size_t name_count;
};

/* Functions of a module that came along */
struct process_functions {
	struct ras_names head;
	struct ras_name *items;		/* ascending */
	char *texts;			/* ends with a zero */
};

struct process_table {
	struct process_functions *functions;
	size_t function_modules;
	uint64_t function_bytes;
	struct key_map processes;	/* struct process_entry, by pid */
	uint64_t map_bytes, map_order;
	uint16_t machine;		/* ELF's number; 0: not known */
};

/* Payloads of chunks. 0; -EINVAL: n bytes aren't that; -ENOMEM. */
int process_table_add(struct process_table *table, const uint8_t *p, size_t n);
int process_table_add_maps(struct process_table *table, const uint8_t *p,
			   size_t n);
int process_table_add_functions(struct process_table *table, const uint8_t *p,
				size_t n);
void process_table_free(struct process_table *table);

/* Name of the process at that time, not terminated when it has 16 bytes; NULL:
 * not known. */
const char *process_table_name(const struct process_table *table, uint32_t pid,
			       uint64_t time);
/* NULL: nothing is known of it. */
const struct process_entry *
process_table_find(const struct process_table *table, uint32_t pid);
/* What lies there; NULL: nothing that is known. */
const struct ras_mapping *
process_table_mapping(const struct process_table *table, uint32_t pid,
		      uint64_t address);
/* The function that came along for an address in the mapping, with the distance from
 * its first byte; NULL: none did. */
const char *process_table_function(const struct process_table *table,
				   const struct ras_mapping *mapping,
				   uint64_t address, uint64_t *distance);
/*
 * Whose an address is that a process had: pid or PROCESS_KERNEL. Where addresses
 * may contain more than the address (AArch64: a signature, a tag), only the
 * address remains in *address.
 */
uint32_t process_table_owner(const struct process_table *table, uint32_t pid,
			     uint64_t *address);

#endif

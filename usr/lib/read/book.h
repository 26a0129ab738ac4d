/* SPDX-License-Identifier: GPL-2.0 */
/* Who is behind a process id, and which module an address of it lies in. */
#ifndef TRACEFMT_BOOK_H
#define TRACEFMT_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/rasfile.h>
#include "lib/key_map.h"

#define BOOK_KERNEL	0	/* the kernel's pid */
#define BOOK_NAMES	4	/* of a process, the newest ones */

struct book_process {
	uint32_t pid;
	struct ras_mapping *maps;	/* ascending */
	uint32_t map_count;
	uint64_t map_order;		/* the older, the less */
	char comm[16];			/* when the maps were taken */
	struct {
		uint64_t since;
		char comm[16];
	} names[BOOK_NAMES];		/* ascending */
	size_t name_count;
};

struct book {
	struct key_map processes;	/* struct book_process, by pid */
	uint64_t map_bytes, map_order;
	uint16_t machine;		/* ELF's number; 0: not known */
};

/* Payloads of chunks. 0; -EINVAL: n bytes aren't that; -ENOMEM. */
int book_add_processes(struct book *book, const uint8_t *p, size_t n);
int book_add_maps(struct book *book, const uint8_t *p, size_t n);
void book_free(struct book *book);

/* Name of the process at that time, not terminated when it has 16 bytes; NULL:
 * not known. */
const char *book_name(const struct book *book, uint32_t pid, uint64_t time);
/* NULL: nothing is known of it. */
const struct book_process *book_process_find(const struct book *book,
					     uint32_t pid);
/* What lies there; NULL: nothing that is known. */
const struct ras_mapping *book_mapping(const struct book *book, uint32_t pid,
				       uint64_t address);
/*
 * An address that a process had: who has memory there, pid or BOOK_KERNEL. Where
 * the machine's addresses may have more than the address in them (AArch64: a
 * signature, a tag), it is left.
 */
uint32_t book_owner(const struct book *book, uint32_t pid, uint64_t *address);

#endif

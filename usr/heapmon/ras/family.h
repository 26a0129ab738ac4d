/* SPDX-License-Identifier: GPL-2.0 */
/* Whose memory a process works in, as a child by vfork; and whose mappings it has:
 * those of its parent, when it ended before anybody looked at its own, or when the
 * table has only those of the program that it executed later on. */
#ifndef HEAPMON_FAMILY_H
#define HEAPMON_FAMILY_H

#include "lib/read/read.h"
#include "lib/key_map.h"

struct family {
	struct family_member {
		uint32_t pid, parent;	/* parent 0: it has a program of its own */
		uint32_t memory;	/* whose it works in; 0: it has its own */
		uint32_t owner_set;	/* `set` of that one then */
		uint32_t set;		/* how often family_set() was called */
		uint32_t programs;	/* that it will execute yet */
		uint8_t bytes;		/* of its pointers; 0: not known */
		bool ended;
	} *members;			/* numbered from 1 */
	size_t count, room;
	struct key_map numbers;		/* by process id */
};

/* The process is there, a child of `parent`; 0: with a program of its own. false:
 * no memory. */
bool family_set(struct family *family, uint32_t pid, uint32_t parent);
/* It was set, and hasn't ended. */
bool family_has(const struct family *family, uint32_t pid);
void family_end(struct family *family, uint32_t pid);
/* It will execute a program (false: no memory), and now it does. */
bool family_expect(struct family *family, uint32_t pid);
bool family_execute(struct family *family, uint32_t pid);
/* How wide its pointers are, in bytes: 8 unless it was said. */
void family_set_bytes(struct family *family, uint32_t pid, unsigned int bytes);
unsigned int family_bytes(const struct family *family, uint32_t pid);
/* Until one of both is set again it works in the memory of `owner`. */
void family_share(struct family *family, uint32_t pid, uint32_t owner);
/* In whose memory it works: the process itself when that is over, too. */
uint32_t family_memory(const struct family *family, uint32_t pid);
/* The nearest one whose mappings the table has; the process itself when there is
 * none. */
uint32_t family_mapped(const struct family *family,
		       const struct process_table *table, uint32_t pid);
void family_free(struct family *family);

#endif

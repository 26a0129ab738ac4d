/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mapped code of a process or of the kernel, so that addresses can be
 * named later and elsewhere.
 */
#ifndef LIB_MAPPINGS_H
#define LIB_MAPPINGS_H

#include <rastrace/rasfile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "buffer.h"

/* Who was traced: the buffer's `processes`. */

struct processes {
	struct ras_process_entry *items;	/* by pid, session, module */
	size_t count;
};

/* 0 or -ENOMEM; what can't be read is left out. */
int processes_read(struct processes *processes, const struct buffer *buffer);
/* Is there such an entry, of the same time and bias? */
bool processes_have(const struct processes *processes,
		    const struct ras_process_entry *entry);
bool processes_have_pid(const struct processes *processes, uint32_t pid);
void processes_free(struct processes *processes);
/* In the buffer only those of static records are left. */
void processes_forget(const struct buffer *buffer);

struct mappings {
	struct ras_mapping *items;	/* ascending */
	size_t count;
	char comm[16];
	bool exhausted;			/* memory was: there are more */
	bool torn;			/* they went while they were read: there are
					 * more, or files without identity */
};

/* Which file has which identity, for many processes. Starts as { 0 }. */
struct mappings_cache {
	struct mappings_known *items;
	size_t count;
};

/*
 * The executable mappings of the process that `pid` has been since `seen`
 * (CLOCK_BOOTTIME, ns). false: it is gone, or can't be looked at.
 */
bool mappings_read_process(struct mappings *mappings,
			   struct mappings_cache *cache, uint32_t pid,
			   uint64_t seen);
/* When a process began: CLOCK_BOOTTIME, ns. */
bool mappings_process_start(uint32_t pid, uint64_t *started);
/* What is known of a process that is gone: where a module lay. It is added; of
 * modules in a row the mappings aren't ascending. */
void mappings_add_module(struct mappings *mappings,
			 struct mappings_cache *cache, const char *path,
			 uint64_t bias);
/* The kernel's text and its modules; false: the kernel hides its addresses. */
bool mappings_read_kernel(struct mappings *mappings);
void mappings_free(struct mappings *mappings);
void mappings_cache_free(struct mappings_cache *cache);

#endif

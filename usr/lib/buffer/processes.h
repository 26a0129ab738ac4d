/* SPDX-License-Identifier: GPL-2.0 */
/* Who was traced: the buffer's `processes`. */
#ifndef LIB_PROCESSES_H
#define LIB_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <rastrace/rasfile.h>
#include "buffer.h"

struct processes {
	struct ras_process_entry *items;	/* by pid, session, module */
	size_t count;
};

/* 0 or -ENOMEM; what can't be read is left out. */
int processes_read(struct processes *processes, const struct buffer *buffer);
/* Is there such an entry, of the same time and bias? */
bool processes_have(const struct processes *processes,
		    const struct ras_process_entry *entry);
void processes_free(struct processes *processes);
/* In the buffer only those of static records are left. */
void processes_forget(const struct buffer *buffer);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What --context put between a record's header and its data, as lines below
 * the header line:
 *
 *	Comm [bash]  UID [1000]  GID [1000]  Cgroup [4711]  CPU [3]  PPID [33/0x0021]
 *	Stack, innermost first:
 *	  00007F12AB34CD56  libc.so.6+0x29D90
 *	  (stopped: no frame pointer)
 */
#ifndef LIB_READ_CONTEXT_H
#define LIB_READ_CONTEXT_H

#include <stddef.h>
#include "stack.h"

struct context {
	size_t bytes;		/* of it, in front of the data */
	bool misfit;		/* the record is too short for it */
	uint32_t mask;
	const uint8_t *fixed;	/* what isn't the stack */
	const uint8_t *stack;	/* the addresses; NULL: none */
	size_t stack_bytes;
	struct ras_stack stack_end;
};

/* context_of() of a mask that isn't 0. */
struct context context_find(const struct ras_record *record, uint32_t mask);

/* What the record has of the session's mask. */
static inline struct context context_of(const struct ras_record *record,
					uint32_t mask)
{
	return mask ? context_find(record, mask) : (struct context){ 0 };
}

/* Room that context_put() takes. */
size_t context_room(const struct context *context);
char *context_put(const struct context *context, struct stack_owner owner,
		  char *p);

#endif

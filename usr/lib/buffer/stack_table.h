/* SPDX-License-Identifier: GPL-2.0 */
/* The live table of a session's stacks, which records name by number. */
#ifndef LIB_STACK_TABLE_H
#define LIB_STACK_TABLE_H

#include "session.h"

struct stack_table {
	const uint8_t *sets;	/* struct ras_stack_set */
	size_t bytes, set_bytes;
	uint32_t count, depth;	/* of sets; addresses of a stack at most */
	int fd;
};

/* A stack in it; the addresses are never changed. */
struct stack_found {
	struct ras_stack stack;
	uint32_t count;
	const __u64 *addresses;
};

/* 0, or a negative errno with err set: -ENOENT when the session has none. */
int stack_table_open(struct stack_table *table, const struct session *session,
		     struct error *err);
void stack_table_close(struct stack_table *table);
/* What was added is seen, too. */
int stack_table_refresh(const struct stack_table *table, struct error *err);
/* False: there is no such stack, or it isn't whole. */
bool stack_table_find(const struct stack_table *table, uint32_t id,
		      struct stack_found *found);

struct stack_table_figures {
	uint64_t room, used;	/* stacks */
	uint64_t unplaced;	/* records whose stack found no place */
};

void stack_table_count(const struct stack_table *table,
		       struct stack_table_figures *figures);

#endif

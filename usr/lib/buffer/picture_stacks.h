/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stacks that records name by number, for the files that these are in:
 * RAS_CHUNK_STACKS. Starts as { 0 }.
 */
#ifndef LIB_PICTURE_STACKS_H
#define LIB_PICTURE_STACKS_H

#include "lib/formats/chunk.h"
#include "lib/key_map.h"
#include "ring.h"
#include "session.h"
#include "stack_table.h"

struct picture_stacks {
	struct picture_table *tables;	/* of sessions whose records were met */
	size_t table_count, table_room;
	struct key_map known;		/* stacks that were noted */
	uint64_t *due;			/* of these, what isn't written yet */
	size_t due_count, due_room;
	bool stale;			/* some were noted since the tables were read */
	bool exhausted;			/* no memory: some were not noted */
};

/* Note the stacks of these records. */
void picture_stacks_note(struct picture_stacks *stacks, const struct ring *ring,
			 uint64_t key);
/* The stack of a record; false: it has no number, or there is no such stack. */
bool picture_stacks_find(struct picture_stacks *stacks,
			 const struct session_list *list,
			 const struct ras_record *record,
			 struct stack_found *found);
/* Bytes that picture_stacks_write() would take, at most */
size_t picture_stacks_bytes(const struct picture_stacks *stacks);
/* Chunks with those that are due. What isn't there any more is left out. */
void picture_stacks_write(struct picture_stacks *stacks,
			  const struct session_list *list,
			  struct chunk_out *out);
/* A new file begins: it has none. */
void picture_stacks_forget(struct picture_stacks *stacks);
void picture_stacks_free(struct picture_stacks *stacks);

#endif

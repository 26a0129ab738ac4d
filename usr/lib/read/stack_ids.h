/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stacks that records of a trace name by number: RAS_CHUNK_STACKS. A reader gets
 * the records with their stacks in full, as if there were no numbers.
 */
#ifndef LIB_READ_STACK_IDS_H
#define LIB_READ_STACK_IDS_H

#include <stddef.h>
#include <stdint.h>
#include <rastrace/rasfile.h>
#include "lib/key_map.h"

struct stack_ids {
	struct key_map copies;	/* struct ras_stack_copy, by session and number */
	void **payloads;	/* of chunks, that they are in */
	size_t payload_count, payload_room;
	uint64_t bytes;		/* of these */
	uint64_t record[RAS_RECORD_MAX / sizeof(uint64_t)];
};

/* What is in a chunk; of a stack the first copy holds. 0, -EINVAL: some of it is
 * none, or -ENOMEM. */
int stack_ids_add(struct stack_ids *ids, const uint8_t *payload, size_t size);

/* The record without a number, which stays until the next call. A stack that isn't
 * there is RAS_STACK_LOST, without addresses. */
const struct ras_record *stack_ids_expand(struct stack_ids *ids,
					  const struct ras_record *record);
void stack_ids_free(struct stack_ids *ids);

#endif

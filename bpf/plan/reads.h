/* SPDX-License-Identifier: GPL-2.0 */
/* Which reads of a record are one. */
#ifndef BPF_PLAN_READS_H
#define BPF_PLAN_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READS_MAX	64
#define READS_EVENTS	128
#define READS_OFFSETS	16
#define READS_BYTES	((size_t)-1)	/* instead of an operation: the bytes of
					 * a MEM */

struct read_offset {	/* a base and an offset that isn't known */
	int base;
	uint64_t add;
	uint32_t word;
};

struct read {		/* of `bytes` bytes at an offset from something */
	int base;
	int64_t add;
	uint32_t bytes;
	int span;		/* that it is part of; -1: it's by itself */
	int events;
};

struct read_event {		/* where a read is wanted */
	int stmt;
	size_t at;		/* the operation, or READS_BYTES */
	int read;
};

struct read_span {		/* what is read at once */
	int64_t from, to;	/* offsets, as of its reads */
	int64_t first, last;	/* when it is read and no longer needed */
	int word;		/* of the frame's that spans have */
	bool dropped;		/* there was no room */
};

struct reads {
	struct read reads[READS_MAX];
	struct read_event events[READS_EVENTS];
	struct read_span spans[READS_MAX];
	struct read_offset offsets[READS_OFFSETS];
	int count, event_count, span_count, offset_count;
	int room;		/* words */
	bool cramped;		/* with more of them there were fewer reads */
};

struct plan;
struct body_offset;
struct body_length;
struct body_register;

/* Find them, in so many words of the frame at most. */
void reads_plan(struct plan *plan, int room);
/* The offset of the operation that is `at` in the expression, if it is in the map;
 * or NULL */
const struct body_offset *reads_offset_find(const struct plan *plan,
					    const uint8_t *rpn, size_t at);
/* The same of its register, of the register that a statement logs, and of the
 * length of one */
const struct body_register *reads_register_find(const struct plan *plan,
						const uint8_t *rpn, size_t at);
const struct body_register *reads_item_register_find(const struct plan *plan,
						     uint32_t stmt);
const struct body_length *reads_length_find(const struct plan *plan,
					    uint32_t stmt);
/* What a statement reads at an operation; NULL: it is read by itself. */
const struct read *reads_find(const struct reads *reads, int stmt, size_t at);
/* Bytes of the frame that a span takes, where the first byte is as aligned as in
 * memory */
int reads_span_bytes(const struct read_span *span);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slices' records in the order of time. Records of one slice keep the
 * order in which they were written; at the same time the earlier slice of the
 * file comes first.
 */
#ifndef TRACEFMT_MERGE_H
#define TRACEFMT_MERGE_H

#include "trace_file.h"

struct merge_head {
	const struct ras_record *record;
	struct trace_slice *slice;
	uint64_t time;
	uint32_t gaps;		/* of the slice, in front of the record */
	bool damaged;		/* the checksum of its chunk differs */
};

struct merge {
	uint64_t key;
	struct slices *slices;
	struct merge_head *heap;	/* the oldest on top */
	size_t count, room;
	struct merge_head last;		/* what was given out */
};

void merge_open(struct merge *merge, struct trace_file *file);
/* Chunks were added. 0 or -ENOMEM. */
int merge_more(struct merge *merge, uint64_t key);
/* The next record whose time is before `limit`; NULL: there is none now. */
const struct merge_head *merge_next(struct merge *merge, uint64_t limit);
void merge_close(struct merge *merge);

#endif

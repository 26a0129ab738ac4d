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
};

struct merge {
	uint64_t key;
	struct merge_head *heap;	/* the oldest on top */
	size_t count;
};

/* 0 or -ENOMEM. */
int merge_open(struct merge *merge, struct trace_file *file);
/* NULL at the end. */
const struct ras_record *merge_next(struct merge *merge,
				    struct trace_slice **slice);
void merge_close(struct merge *merge);

#endif

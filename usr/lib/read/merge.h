/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slices' records in the order of time. Records of one slice keep the
 * order in which they were written; at the same time the earlier slice of the
 * file comes first.
 */
#ifndef LIB_READ_MERGE_H
#define LIB_READ_MERGE_H

#include "trace_file.h"

struct merge_head {
	uint64_t time;
	const struct ras_record *record;
	struct trace_slice *slice;	/* its gaps are those in front of the
					 * record, and it knows of damage */
};

struct merge {
	uint64_t key;
	struct slices *slices;
	struct merge_head *heap;	/* the oldest on top */
	size_t count, room;
	bool given;			/* the top's record: the next is due */
};

void merge_open(struct merge *merge, struct trace_file *file);
/* Chunks were added. 0 or -ENOMEM. */
int merge_more(struct merge *merge, uint64_t key);

/* The next record of the head's slice; false: there is none now. */
static inline bool merge_load(struct merge *merge, struct merge_head *head)
{
	struct trace_slice *slice = head->slice;

	head->record = slices_next(merge->slices, slice, merge->key);
	slice->queued = head->record;
	if (!head->record)
		return false;
	head->time = head->record->time;
	return true;
}

/* The heap's top has changed. */
void merge_sink(struct merge *merge);

/* The next record whose time is `limit` at most, which stays until the next call;
 * NULL: there is none now. */
static inline const struct merge_head *merge_next(struct merge *merge,
						  uint64_t limit)
{
	struct merge_head *top = merge->heap;

	if (merge->given) {
		merge->given = false;
		if (!merge_load(merge, top))
			*top = top[--merge->count];
		if (merge->count > 1)
			merge_sink(merge);
	}
	if (!merge->count || top->time > limit)
		return NULL;
	merge->given = true;
	return top;
}

void merge_close(struct merge *merge);

#endif

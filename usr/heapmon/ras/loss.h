/* SPDX-License-Identifier: GPL-2.0 */
/* What is missing in a recording: calls that were not recorded, and records that
 * were overwritten. */
#ifndef HEAPMON_LOSS_H
#define HEAPMON_LOSS_H

#include "lib/read/read.h"

/*
 * A gap of a slice begins at its last record: when that was given out the next
 * one is read, so that the gap is known before records of other slices follow.
 */
struct ras_loss {
	uint64_t *gaps;			/* of each slice, in front of its last
					 * record */
	size_t slices;
	uint64_t known;			/* of all slices, when it was last read */
	size_t open;			/* slices that are in a gap now */
};

/* What is missing in front of the merge's next record. */
struct loss_front {
	bool begins;			/* a gap, after the record before */
	bool ends;			/* the last one that was open */
};

/* 0 or -ENOMEM */
int loss_before(struct ras_loss *loss, const struct slices *slices,
		const struct merge_head *head, struct loss_front *front);
/* Calls that were never recorded: their time isn't known. */
uint64_t loss_dropped(const struct trace_file *file);
/* After the last record: records that were overwritten. */
uint64_t loss_overwritten(const struct trace_file *file,
			  const struct match *match);
void loss_free(struct ras_loss *loss);

#endif

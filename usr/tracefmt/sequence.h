/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sequence numbers of the armed points' records, which count from 0 in
 * each slice without a hole: what is missing between two records was overwritten
 * where the slice has a gap, else it is damage.
 */
#ifndef TRACEFMT_SEQUENCE_H
#define TRACEFMT_SEQUENCE_H

#include "match.h"
#include "merge.h"

struct sequence {
	const struct match_point *point;	/* NULL: a free entry */
	uint64_t next;
	uint32_t slice;
	uint32_t gaps;		/* the slice had then */
};

struct sequences {
	struct trace_file *file;
	struct sequence *table;		/* hashed by point and slice */
	size_t size, count;
};

void sequence_open(struct sequences *sequences, struct trace_file *file);
/* The next record of a slice: keeps point->reached and point->before, and
 * tells the damage. 0 or -ENOMEM. */
int sequence_see(struct sequences *sequences, struct match_point *point,
		 const struct merge_head *head);
void sequence_close(struct sequences *sequences);

#endif

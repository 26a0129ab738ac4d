/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sequence numbers of the armed points' records, which count from 0 in
 * each slice without a hole: what is missing between two records was overwritten
 * where the slice has a gap, else it is damage.
 */
#ifndef LIB_READ_SEQUENCE_H
#define LIB_READ_SEQUENCE_H

#include "lib/key_map.h"
#include "match.h"
#include "lib/read/merge.h"

/* Of a point in a slice. */
struct point_sequence {
	struct match_point *point;
	uint64_t next;
	uint32_t slice;
	uint32_t gaps;		/* the slice had then */
	bool begun;
};

struct sequences {
	struct trace_file *file;
	struct key_map by_place;	/* struct point_sequence */
};

void sequence_open(struct sequences *sequences, struct trace_file *file);
/* That of the point in the slice, which stays where it is; NULL: no memory. */
struct point_sequence *sequence_find(struct sequences *sequences,
				     struct match_point *point, uint32_t slice);
/* The next record of a slice: keeps point->reached and point->before, and
 * reports the damage. */
void sequence_jump(struct sequences *sequences, struct point_sequence *sequence,
		   const struct merge_head *head);

static inline void sequence_step(struct sequences *sequences,
				 struct point_sequence *sequence,
				 const struct merge_head *head)
{
	if (!sequence->point->armed)
		return;
	if (!sequence->begun || sequence->gaps != head->slice->gaps ||
	    head->record->seq != (uint32_t)sequence->next)
		sequence_jump(sequences, sequence, head);
	sequence->next++;
	sequence->point->reached++;
}

void sequence_close(struct sequences *sequences);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What is missing in a recording: calls that were not recorded, and records that
 * were overwritten. */
#ifndef HEAPMON_LOSS_H
#define HEAPMON_LOSS_H

#include "../../tracefmt/match/match.h"
#include "../../tracefmt/read/merge.h"

struct loss {
	uint32_t *gaps;			/* of each slice, as they were last */
	size_t slices;
};

/* Is something missing in front of this record? false also without memory. */
bool loss_before(struct loss *loss, const struct merge_head *head);
/* Calls that were never recorded: their time isn't known. */
uint64_t loss_dropped(const struct trace_file *file);
/* After the last record: records that were overwritten. */
uint64_t loss_overwritten(const struct trace_file *file,
			  const struct match *match);
void loss_free(struct loss *loss);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "loss.h"

#include <errno.h>
#include <rastrace/heap.h>
#include <stdlib.h>
#include <string.h>

static bool gaps_grow(struct ras_loss *loss, size_t slices)
{
	uint64_t *gaps;

	if (slices <= loss->slices)
		return true;
	gaps = reallocarray(loss->gaps, slices, sizeof(*gaps));
	if (!gaps)
		return false;
	memset(gaps + loss->slices, 0,
	       (slices - loss->slices) * sizeof(*gaps));
	loss->gaps = gaps;
	loss->slices = slices;
	return true;
}

/* Also what is missing in front of its first record. */
static uint64_t slice_gaps(const struct trace_slice *slice)
{
	return (uint64_t)slice->gaps + slice->wrapped;
}

int loss_before(struct ras_loss *loss, const struct slices *slices,
		const struct merge_head *head, struct loss_front *front)
{
	const struct trace_slice *slice = head->slice;

	if (!gaps_grow(loss, slices->count))
		return -ENOMEM;
	front->begins = slices->gaps != loss->known;
	front->ends = slice_gaps(slice) != loss->gaps[slice->index];
	if (!front->begins && !front->ends)
		return 0;
	loss->gaps[slice->index] = slice_gaps(slice);
	loss->known = slices->gaps;
	loss->open = 0;
	for (size_t i = 0; i < slices->count; i++)
		loss->open += slice_gaps(slices->items[i]) != loss->gaps[i];
	front->ends = !loss->open;
	return 0;
}

static uint64_t loss_covered(uint64_t total, uint64_t base)
{
	return total > base ? total - base : 0;
}

static uint64_t point_dropped(const struct ras_count_total *total,
			      const struct ras_count_total *base)
{
	static const struct ras_count_total none;
	uint64_t missed = 0;

	base = base ? base : &none;
	if (total->missed != RAS_MISSED_UNKNOWN &&
	    base->missed != RAS_MISSED_UNKNOWN)
		missed = loss_covered(total->missed, base->missed);
	return missed + loss_covered(total->dropped, base->dropped);
}

uint64_t loss_dropped(const struct trace_file *file)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < file->session_count; i++) {
		const struct trace_session *session = file->sessions[i];

		if (session->entry->major != HEAP_MAJOR || !session->totals)
			continue;
		for (uint32_t p = 0; p < session->entry->points; p++)
			sum += point_dropped(&session->totals[p],
					     session->base ?
					     &session->base[p] : NULL);
	}
	return sum;
}

/* A record may be one of a point by its name, and be counted by another. */
uint64_t loss_overwritten(const struct trace_file *file,
			  const struct match *match)
{
	uint64_t reached = 0, present = 0, lost;
	const struct match_point *point;
	size_t at = 0;

	while ((point = key_map_next(&match->points, &at))) {
		if (!point->session ||
		    point->session->entry->major != HEAP_MAJOR)
			continue;
		reached += point->reached;
		present += point->present;
	}
	lost = loss_covered(reached, present);
	return lost > file->pass.lost - file->lost_base ? lost :
	       file->pass.lost - file->lost_base;
}

void loss_free(struct ras_loss *loss)
{
	free(loss->gaps);
}

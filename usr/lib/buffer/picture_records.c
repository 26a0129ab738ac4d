// SPDX-License-Identifier: GPL-2.0
#include "picture_records.h"

struct ras_slice_copy picture_slice_place(const struct buffer *buffer,
					  uint32_t row)
{
	const struct ras_control *control = buffer->control;
	uint32_t nest = row - control->cpus;

	if (row < control->cpus)
		return (struct ras_slice_copy){ .cpu = row };
	return (struct ras_slice_copy){
		.cpu = nest / control->nest_levels,
		.level = nest % control->nest_levels + 1,
	};
}

static void piece_write(struct chunk_out *out,
			const struct ras_slice_copy *place,
			const struct ring *ring, uint64_t first, uint64_t end)
{
	struct ras_slice_copy copy = *place;

	copy.first = first;
	copy.head = end;
	copy.records = ring->records;
	copy.dropped = ring->dropped;
	chunk_begin(out);
	chunk_add(out, &copy, sizeof(copy));
	chunk_add(out, ring->data + (first - ring->first), end - first);
	chunk_end(out, RAS_CHUNK_SLICE);
}

void picture_records(struct chunk_out *out, const struct ras_slice_copy *place,
		     const struct ring *ring, uint64_t key, size_t piece)
{
	struct ring_walk walk = { .position = ring->first };
	uint64_t first = ring->first, end = first;

	while (ring->head - first > piece && ring_next(ring, key, &walk)) {
		if (walk.position - first > piece && end > first) {
			piece_write(out, place, ring, first, end);
			first = end;
		}
		end = walk.position;
	}
	piece_write(out, place, ring, first, ring->head);
}

void picture_end(struct chunk_out *out)
{
	chunk_begin(out);
	chunk_end(out, RAS_CHUNK_END);
}

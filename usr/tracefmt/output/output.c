// SPDX-License-Identifier: GPL-2.0
#include "output.h"

#include <errno.h>
#include <stdlib.h>

static int pieces_reserve(struct scratch *scratch, size_t room)
{
	void *pieces;

	if (scratch->room >= room)
		return 0;
	pieces = reallocarray(scratch->pieces, room, sizeof(*scratch->pieces));
	if (!pieces)
		return -ENOMEM;
	scratch->pieces = pieces;
	scratch->room = room;
	return 0;
}

int output_decode(const struct event *event, struct scratch *scratch,
		  uint8_t *seen)
{
	const struct match_point *point = event->point;
	struct event_data data = event_data(event);

	scratch->result = (struct decode_result){ .misfit = data.misfit };
	if (!point->formatted || data.misfit ||
	    event->record->flags & RAS_RECORD_MUTED)
		return 0;
	if (pieces_reserve(scratch, DECODE_PIECES(&point->format, data.length)))
		return -ENOMEM;
	decode_record(&point->format, event->record, data.skip,
		      scratch->pieces, seen, &scratch->result);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "notes.h"

#include <stdlib.h>
#include "lib/array.h"

#define CHUNK_NOTES	8192	/* in a chunk at most */

void record_notes_add(struct notes *notes, const struct ras_heap_note *note)
{
	size_t at = notes->count;

	if (!array_grow(&notes->items, notes->count, &notes->room,
			sizeof(*notes->items))) {
		notes->failed = true;
		return;
	}
	/* they come in order, nearly */
	for (; at && notes->items[at - 1].time > note->time; at--)
		notes->items[at] = notes->items[at - 1];
	notes->items[at] = *note;
	notes->count++;
}

void notes_write(struct notes *notes, struct chunk_out *out)
{
	for (size_t at = 0; at < notes->count; at += CHUNK_NOTES) {
		size_t n = notes->count - at;

		if (n > CHUNK_NOTES)
			n = CHUNK_NOTES;
		chunk_begin(out);
		chunk_add(out, notes->items + at, n * sizeof(*notes->items));
		chunk_end(out, RAS_CHUNK_HEAP);
	}
	notes->count = 0;
}

void notes_free(struct notes *notes)
{
	free(notes->items);
}

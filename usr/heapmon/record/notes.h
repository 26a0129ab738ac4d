/* SPDX-License-Identifier: GPL-2.0 */
/* Notes (RAS_CHUNK_HEAP) on their way into the file. */
#ifndef HEAPMON_NOTES_H
#define HEAPMON_NOTES_H

#include <stdbool.h>
#include <rastrace/heap.h>
#include "lib/formats/chunk.h"

struct notes {
	struct ras_heap_note *items;	/* not written yet */
	size_t count, room;
	bool failed;			/* no memory: some are missing */
};

void record_notes_add(struct notes *notes, const struct ras_heap_note *note);
/* By time, those of one time in the order in which they came. */
void notes_write(struct notes *notes, struct chunk_out *out);
void notes_free(struct notes *notes);

#endif

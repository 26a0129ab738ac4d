/* SPDX-License-Identifier: GPL-2.0 */
/* What a program that traces itself finds in the buffer. */
#ifndef SELF_PICTURE_H
#define SELF_PICTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/rasfile.h>
#include "lib/buffer/picture.h"

/* Call `each` for every slice that has records: the `length` bytes of them
 * follow *copy. */
static inline bool self_slices_each(const char *run,
				    void (*each)(void *context,
						 const struct ras_slice_copy *copy,
						 uint64_t length, uint64_t key),
				    void *context, struct error *err)
{
	const struct ras_file *file;
	size_t size, at;
	void *data;

	if (snapshot_take(run, &data, &size, err))
		return false;
	file = data;
	for (at = file->size; at < size;) {
		const struct ras_chunk *chunk =
			(const void *)((char *)data + at);

		at += sizeof(*chunk) + ((chunk->length + 7) & ~7ULL);
		if (chunk->kind == RAS_CHUNK_SLICE)
			each(context, (const void *)(chunk + 1), chunk->length -
			     sizeof(struct ras_slice_copy), file->key);
	}
	free(data);
	return true;
}

/* The figures of a session: of `points` points into totals[]. false: they
 * aren't there, or are of another number of points. */
static inline bool self_counts(const char *run, uint32_t session,
			       struct ras_count_total *totals, uint32_t points)
{
	const struct ras_chunk *chunk;
	bool found = false;
	size_t size, at;
	void *data;

	if (snapshot_take(run, &data, &size, NULL))
		return false;
	for (at = ((struct ras_file *)data)->size; at < size;
	     at += sizeof(*chunk) + ((chunk->length + 7) & ~7ULL)) {
		const struct ras_counts *counts;

		chunk = (const void *)((char *)data + at);
		counts = (const void *)(chunk + 1);
		if (chunk->kind != RAS_CHUNK_COUNTS ||
		    counts->session != session || counts->points != points ||
		    chunk->length != sizeof(*counts) + points * sizeof(*totals))
			continue;
		memcpy(totals, counts + 1, points * sizeof(*totals));
		found = true;
	}
	free(data);
	return found;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What a program that traces itself finds in the buffer. */
#ifndef SELF_PICTURE_H
#define SELF_PICTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <rastrace/rasfile.h>
#include "usr/lib/snapshot.h"

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

#endif

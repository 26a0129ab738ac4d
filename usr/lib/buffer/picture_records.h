/* SPDX-License-Identifier: GPL-2.0 */
/* Records as chunks of a .ras file: of the live buffer and of a memory dump. */
#ifndef LIB_PICTURE_RECORDS_H
#define LIB_PICTURE_RECORDS_H

#include "buffer.h"
#include "lib/formats/chunk.h"
#include "ring.h"

/* Place of a slice's row: CPU and level. */
struct ras_slice_copy picture_slice_place(const struct buffer *buffer,
					  uint32_t row);
/* The records of a ring, as chunks of at most `piece` bytes or so. */
void picture_records(struct chunk_out *out, const struct ras_slice_copy *place,
		     const struct ring *ring, uint64_t key, size_t piece);
/* The chunk at the end of a file */
void picture_end(struct chunk_out *out);

#endif

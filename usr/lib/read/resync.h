/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the next chunk of a file is when one's header is damaged: its length
 * leads anywhere then.
 */
#ifndef LIB_READ_RESYNC_H
#define LIB_READ_RESYNC_H

#include <stdbool.h>
#include <stdint.h>
#include <rastrace/rasfile.h>
#include "source.h"

#define RESYNC_FRONT	(sizeof(struct ras_chunk) + \
			 sizeof(struct ras_slice_copy) + sizeof(__u64))

struct resync {
	struct trace_source *source;
	uint64_t key;		/* of the records' stamps */
	bool keyless;		/* it isn't known */
	uint64_t looked;	/* bytes so far whose checksum was tried */
	bool exhausted;		/* memory was: there may be more */
};

/* May it be what it says: does its length lead to the end or another one, or is
 * its checksum right? */
bool resync_plausible(struct resync *resync, const struct ras_chunk *chunk,
		      uint64_t at);
/* RESYNC_FRONT bytes are those of a chunk with records, whatever its header
 * says: the first one has its stamp. */
bool resync_is_slice(const struct resync *resync, const uint8_t *p);
/* Offset of the first chunk at or after `at`; the source's size: none. */
uint64_t resync_find(struct resync *resync, uint64_t at);

#endif

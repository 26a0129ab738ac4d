/* SPDX-License-Identifier: GPL-2.0 */
/* The chunks of a trace, one after the other: what they say is put where it
 * belongs, and what is damaged is reported. */
#ifndef LIB_READ_TRACE_CHUNK_H
#define LIB_READ_TRACE_CHUNK_H

#include "trace_file.h"

/* The sessions of a trace and their figures, from the payloads of chunks. */

#define TRACE_SESSIONS_MAX	65536	/* a record's session has 16 bits */

void trace_session_free(struct trace_file *file);

/* The chunk at file->at. 1: go on; 0: that was the end; -ENOMEM. `kind` is that
 * of the chunk, or stays: there is none. */
int trace_chunk_next(struct trace_file *file, uint32_t *kind);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The live buffer as chunks of a .ras file; `trace get`, `trace spool` and
 * `tracefmt` are made of these. */
#ifndef LIB_PICTURE_H
#define LIB_PICTURE_H

#include "buffer.h"
#include "lib/formats/chunk.h"
#include "mappings.h"
#include "processes.h"
#include "ring.h"
#include "lib/formats/search.h"
#include "session.h"

/* Not a chunk: the file's header. */
void picture_header(struct chunk_out *out, const struct buffer *buffer);
void picture_sessions(struct chunk_out *out, const struct session_list *list);
/* One chunk for each session whose counters are there. */
void picture_counts(struct chunk_out *out, const struct buffer *buffer,
		    const struct session_list *list);
/* The mappings of a process. */
void picture_maps(struct chunk_out *out, uint32_t pid,
		  const struct mappings *m);
/* Those that `known` doesn't have, and, with a cache, their mappings. */
void picture_processes(struct chunk_out *out,
		       const struct processes *processes,
		       const struct processes *known,
		       const struct session_list *list,
		       struct mappings_cache *cache);
/* The kernel's own, when a session has probes in it. */
void picture_kernel(struct chunk_out *out, const struct session_list *list);
/* The TFFs that format what is armed. */
void picture_formats(struct chunk_out *out, const struct session_list *list);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The live buffer as chunks of a .ras file; `trace get`, `trace spool` and
 * `tracefmt` are made of these. */
#ifndef LIB_PICTURE_H
#define LIB_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include "buffer.h"
#include "lib/formats/chunk.h"
#include "mappings.h"
#include "picture_names.h"
#include "picture_stacks.h"
#include "ring.h"
#include "session.h"
#include "lib/formats/tff.h"
#include "lib/outfile.h"

/* Not a chunk: the file's header. */
void picture_header(struct chunk_out *out, const struct buffer *buffer);
void picture_sessions(struct chunk_out *out, const struct session_list *list);
/* One chunk for each session whose counters are there. */
void picture_counts(struct chunk_out *out, const struct buffer *buffer,
		    const struct session_list *list);
/* The same for those that have aggregates, whose stacks names (NULL: none) notes;
 * false: none has. */
bool picture_aggregates(struct chunk_out *out, const struct buffer *buffer,
			const struct session_list *list,
			struct picture_names *names);
/* The mappings of a process. */
void picture_maps(struct chunk_out *out, uint32_t pid,
		  const struct mappings *m);
/* Those that `known` doesn't have, and, with a cache, their mappings, in which names
 * (NULL: none) places addresses. */
void picture_processes(struct chunk_out *out,
		       const struct processes *processes,
		       const struct processes *known,
		       const struct session_list *list,
		       struct mappings_cache *cache,
		       struct picture_names *names);
/* The kernel's own, when a session has probes in it. */
void picture_kernel(struct chunk_out *out, const struct session_list *list);
/* The TFFs that format what is armed. */
void picture_formats(struct chunk_out *out, const struct session_list *list);

/*
 * A picture of the live buffer, in the form of the .ras file. Taken without
 * disturbing writers; `trace get` writes it out, `tracefmt` prints it. Needs
 * the bpf system call and nothing else.
 */

struct snapshot_settings {
	bool bundle;		/* with the TFFs of what is armed */
	int pack;		/* compress: RAS_PACKED_*, 0 not */
};

/*
 * run = the rastrace bpffs directory ("/run/rastrace"). The caller frees
 * *data. 0, or a negative errno with err set: -ENOENT when there is no buffer.
 */
int snapshot_take(const char *run, void **data, size_t *size,
		  struct error *err);
/* Write the picture to a file, which is committed, or aborted. */
int snapshot_save(const char *run, struct outfile *out,
		  const struct snapshot_settings *settings, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A .ras file (rastrace/rasfile.h), of a disk, memory or a pipe: every byte of
 * it is checked before it is used. `damage` has what can't be used; the rest is
 * there.
 */
#ifndef LIB_READ_TRACE_FILE_H
#define LIB_READ_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/buffer.h>
#include <rastrace/heap.h>
#include <rastrace/rasfile.h>
#include "lib/aggregate.h"
#include "lib/error.h"
#include "process_table.h"
#include "chunk_read.h"
#include "slices.h"
#include "stack_ids.h"

struct trace_session {
	struct ras_session *entry;	/* its newest form */
	const struct ras_session_point *points;	/* entry->points of them */
	struct ras_count_total *totals;	/* as many; NULL: not there */
	struct ras_count_total *base;	/* when a spool's file began; or NULL */
	struct aggregates aggregates;	/* no tables: none */
	char tdf[sizeof(((struct ras_session *)0)->tdf) + 1];
	char module[sizeof(((struct ras_session *)0)->module) + 1];
};

struct trace_format {		/* a TFF that came along */
	char name[sizeof(((struct ras_formats *)0)->name) + 1];
	void *data;
	size_t size;
};

struct trace_file {
	struct ras_file header;
	char host[sizeof(((struct ras_file *)0)->host) + 1];
	char kernel[sizeof(((struct ras_file *)0)->kernel) + 1];
	struct trace_source source;
	struct trace_source kept;	/* of a pipe: chunks that wait, at their offset */
	uint64_t at;		/* offset of the next chunk */
	bool ruined;		/* header: the key isn't known yet */
	struct resync resync;
	struct trace_session **sessions;	/* stay where they are */
	size_t session_count, session_bytes;
	uint32_t *session_at;	/* by index: place in sessions + 1 */
	struct trace_session majors;	/* totals and base only */
	struct slices slices;
	struct process_table processes;
	struct stack_ids stack_ids;
	struct trace_format *formats;
	size_t format_count, format_bytes;
	/* of a spool */
	bool spooled;
	bool continued;		/* not the first file of its cycle */
	uint64_t began;		/* time of the first pass */
	struct ras_pass pass;	/* the last one */
	uint64_t lost_base;
	struct ras_heap_note *notes;	/* heapmon's, in the order of the file */
	size_t note_count, note_room;
	bool panicked;
	struct ras_panic panic;	/* reason: with its zero */
	struct damage damage;
};

/* path "-" is standard input. 0, or a negative errno with err set. */
int trace_file_open(struct trace_file *file, const char *path,
		    struct error *err);
/* The same for bytes in memory, which are taken over in any case; they are
 * 8-byte aligned. */
int trace_file_open_memory(struct trace_file *file, void *data, size_t size,
			   const char *path, struct error *err);
/*
 * Read on: to the end, or of a pipe until records can be printed up to
 * file->pass.time. 1: there may be more; 0: that was the end; -ENOMEM.
 */
int trace_file_more(struct trace_file *file);
void trace_file_free(struct trace_file *file);

/* NULL when the file doesn't have it. */
const struct trace_session *trace_file_session(const struct trace_file *file,
					       uint16_t index);

/* After the last record: report what was lost. */
void trace_file_finish(struct trace_file *file);

#endif

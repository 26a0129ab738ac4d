/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A .ras file in memory (rastrace/rasfile.h): every byte of it is checked
 * before it is used. What can't be used is told in `damage`, the rest is
 * there.
 */
#ifndef TRACEFMT_TRACE_FILE_H
#define TRACEFMT_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/buffer.h>
#include <rastrace/rasfile.h>
#include "../lib/error.h"
#include "damage.h"

struct trace_session {
	const struct ras_session *entry;
	const struct ras_session_point *points;	/* entry->points of them */
	const struct ras_count_total *totals;	/* as many, NULL: not there */
	char tdf[sizeof(((struct ras_session *)0)->tdf) + 1];
	char module[sizeof(((struct ras_session *)0)->module) + 1];
};

/* The records of one slice, and how far they have been read. */
struct trace_slice {
	struct ras_slice_copy copy;
	const uint8_t *data;
	size_t size;
	bool damaged;		/* the checksum differs: values may be wrong */
	size_t at;		/* offset of the next record */
	uint64_t found;		/* records read so far */
	uint64_t oldest;	/* time of the first one */
	uint64_t lost;		/* bytes that are no records */
	uint64_t lost_at;	/* position of the first of them */
};

struct trace_file {
	struct ras_file header;
	char host[sizeof(((struct ras_file *)0)->host) + 1];
	char kernel[sizeof(((struct ras_file *)0)->kernel) + 1];
	void *data;
	size_t size;
	struct trace_session *sessions;
	size_t session_count;
	uint32_t *session_at;	/* by index: place in sessions + 1 */
	struct trace_slice *slices;
	size_t slice_count;
	struct damage damage;
};

/* Read path ("-": standard input) whole. 0, or a negative errno. */
int trace_file_read(struct trace_file *file, const char *path,
		    struct error *err);
/* The same for bytes in memory, which are taken over in any case; they are
 * 8-byte aligned. */
int trace_file_parse(struct trace_file *file, void *data, size_t size,
		     const char *path, struct error *err);
void trace_file_free(struct trace_file *file);

/* NULL when the file doesn't have it. */
const struct trace_session *trace_file_session(const struct trace_file *file,
					       uint16_t index);

/* The next record, 8-byte aligned, its length checked; NULL at the end. */
const struct ras_record *trace_slice_next(struct trace_slice *slice,
					  uint64_t key);

/* After the last record: tell what the slices lost. */
void trace_file_finish(struct trace_file *file);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "cycle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A pipe's records are gone when they have been read, and a ruined header's key
 * is a guess. */
static bool can_join(const struct trace *trace)
{
	return !trace->file.source.pipe && !trace->file.damage.count;
}

/* When it begins. */
static uint64_t trace_start(const struct trace *trace)
{
	const struct trace_file *file = &trace->file;

	return file->spooled ? file->began : file->header.taken;
}

static int trace_compare(const void *a, const void *b)
{
	const struct trace *x = *(struct trace *const *)a;
	const struct trace *y = *(struct trace *const *)b;
	uint64_t x_key = x->file.header.key, y_key = y->file.header.key;

	if (x_key != y_key)
		return x_key < y_key ? -1 : 1;
	if (trace_start(x) != trace_start(y))
		return trace_start(x) < trace_start(y) ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

static bool same_buffer(const struct trace *a, const struct trace *b)
{
	return a->file.header.key == b->file.header.key &&
	       !strcmp(a->file.host, b->file.host);
}

/* What was counted before the trace began is in the one before. */
static int cycle_counts_take(struct trace_session *to,
			     const struct trace_session *from, size_t n)
{
	if (!from->totals || to->base)
		return 0;
	to->base = malloc(n * sizeof(*to->base) + 1);
	if (!to->base)
		return -ENOMEM;
	memcpy(to->base, from->totals, n * sizeof(*to->base));
	return 0;
}

static int sessions_follow(struct trace_file *file,
			   const struct trace_file *before)
{
	int code = cycle_counts_take(&file->majors, &before->majors,
				     RAS_STATIC_MAJORS);

	for (size_t i = 0; i < file->session_count && !code; i++) {
		struct trace_session *own = file->sessions[i];
		const struct trace_session *session =
			trace_file_session(before, own->entry->index);

		if (session && session->entry->armed == own->entry->armed &&
		    session->entry->points == own->entry->points)
			code = cycle_counts_take(own, session,
						 own->entry->points);
	}
	return code;
}

/* The trace is the newest of those in the run. */
static int trace_follow(struct trace *const *run, size_t n, struct trace *trace)
{
	struct trace_file *file = &trace->file;
	const struct trace_file *before = &run[n - 1]->file;

	for (size_t i = 0; i < n; i++)
		slices_pass(&file->slices, &run[i]->file.slices);
	file->header.wall_offset = before->header.wall_offset;
	if (!file->continued) {
		file->continued = true;
		file->began = before->spooled ? before->pass.time :
						before->header.taken;
	}
	return file->spooled ? 0 : sessions_follow(file, before);
}

/* All that it has must be known. */
static int trace_read(struct trace *trace)
{
	int more = !trace->ended;

	while (more > 0)
		more = trace_file_more(&trace->file);
	trace->ended = true;
	return more;
}

int cycle_join(struct stream *stream)
{
	struct trace **sorted;
	size_t n = 0, run = 0;
	int code = 0;

	if (stream->count < 2)
		return 0;
	sorted = calloc(stream->count, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < stream->count; i++)
		if (can_join(stream->traces[i]))
			sorted[n++] = stream->traces[i];
	qsort(sorted, n, sizeof(*sorted), trace_compare);
	/* Those of one buffer are neighbours now. */
	for (size_t i = 1; i < n && !code; i++) {
		if (!same_buffer(sorted[i], sorted[i - 1])) {
			run = i;
			continue;
		}
		code = trace_read(sorted[i - 1]);
		if (!code)
			code = trace_read(sorted[i]);
		if (!code)
			code = trace_follow(&sorted[run], i - run, sorted[i]);
	}
	free(sorted);
	return code;
}

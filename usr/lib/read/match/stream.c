// SPDX-License-Identifier: GPL-2.0
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void sequence_open(struct sequences *sequences, struct trace_file *file)
{
	*sequences = (struct sequences){ .file = file };
}

/* That of the point in the slice, which stays where it is; NULL: no memory. */
static struct point_sequence *
sequence_find(struct sequences *s, struct match_point *point, uint32_t slice)
{
	uint64_t key = key_map_mix(key_map_key(point), slice);
	struct point_sequence *sequence;
	size_t step = 0;

	while ((sequence = key_map_each(&s->by_place, key, &step)))
		if (sequence->point == point && sequence->slice == slice)
			return sequence;
	sequence = malloc(sizeof(*sequence));
	if (!sequence || key_map_add(&s->by_place, key, sequence)) {
		free(sequence);
		return NULL;
	}
	*sequence = (struct point_sequence){ .point = point, .slice = slice };
	return sequence;
}

static void hole_tell(struct sequences *s, const struct match_point *point,
		      const struct trace_slice *slice, uint32_t next,
		      uint32_t seq)
{
	damage_add(&s->file->damage,
		   "records of major %u, minor %u in CPU %u's slice: number %u follows where %u should",
		   point->session->entry->major, point->armed->minor,
		   slice->cpu, seq, next);
}

static void entry_move(struct sequences *s, struct point_sequence *entry,
		       const struct merge_head *head)
{
	uint32_t seq = head->record->seq;
	uint32_t ahead = seq - (uint32_t)entry->next;

	if (ahead && (entry->gaps == head->slice->gaps || ahead > INT32_MAX))
		hole_tell(s, entry->point, head->slice, entry->next, seq);
	/* backwards numbers prove nothing recorded */
	if (ahead <= INT32_MAX) {
		entry->point->reached += ahead;
		entry->next += ahead;
	}
}

/* The next record of a slice: keeps point->reached and point->before, and
 * reports the damage. */
static void sequence_step(struct sequences *sequences,
			  struct point_sequence *sequence,
			  const struct merge_head *head)
{
	if (!sequence->point->armed)
		return;
	if (!sequence->begun || sequence->gaps != head->slice->gaps ||
	    head->record->seq != (uint32_t)sequence->next) {
		if (sequence->begun) {
			entry_move(sequences, sequence, head);
		} else {
			sequence->begun = true;
			sequence->next = head->record->seq;
			sequence->point->reached += head->record->seq;
			sequence->point->before += head->record->seq;
		}
		sequence->gaps = head->slice->gaps;
	}
	sequence->next++;
	sequence->point->reached++;
}

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

/* After the beginnings were read. 0 or -ENOMEM. */
static int cycle_join(struct stream *stream)
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

void stream_open(struct stream *stream, struct search *search, bool force)
{
	*stream = (struct stream){ .search = search, .force = force };
}

/* Room for one more trace. */
static bool traces_grow(struct stream *stream)
{
	size_t n = stream->count + 1;
	struct trace **traces = reallocarray(stream->traces, n,
					     sizeof(*traces));
	struct trace **heap = reallocarray(stream->heap, n, sizeof(*heap));

	if (traces)
		stream->traces = traces;
	if (heap)
		stream->heap = heap;
	return traces && heap;
}

struct trace *stream_add(struct stream *stream, const char *name)
{
	struct trace *trace = traces_grow(stream) ?
			      calloc(1, sizeof(*trace)) : NULL;

	if (!trace)
		return NULL;
	trace->name = name;
	trace->index = stream->count;
	stream->traces[stream->count++] = trace;
	return trace;
}

void stream_drop(struct stream *stream)
{
	free(stream->traces[--stream->count]);
}

/* Where the TDFs lie, one after the other often in the same place. */
static int search_update(struct stream *stream, struct trace *trace)
{
	struct trace_file *file = &trace->file;

	for (; trace->sessions < file->session_count; trace->sessions++)
		search_add_place(stream->search,
				 file->sessions[trace->sessions]->tdf);
	if (!stream->system)
		search_add_system(stream->search);
	stream->system = true;
	for (; trace->formats < file->format_count; trace->formats++) {
		const struct trace_format *f = &file->formats[trace->formats];

		if (search_add_bundled(stream->search, f->name, f->data,
				       f->size))
			return -ENOMEM;
	}
	return stream->search->exhausted ? -ENOMEM : 0;
}

static void stream_trace_begin(struct stream *stream, struct trace *trace)
{
	if (trace->match.file)
		return;
	sequence_open(&trace->sequences, &trace->file);
	merge_open(&trace->merge, &trace->file);
	match_open(&trace->match, &trace->file, stream->search, stream->force);
}

/* What has come of the file may come out. 0 or -ENOMEM. */
static int trace_open_up(struct stream *stream, struct trace *trace)
{
	struct trace_file *file = &trace->file;
	int code = search_update(stream, trace);

	trace->until = trace->ended ? UINT64_MAX :
		       file->pass.time > STREAM_WINDOW ?
		       file->pass.time - STREAM_WINDOW : 0;
	return code ? code : merge_more(&trace->merge, file->header.key);
}

static int trace_more(struct trace *trace)
{
	int more = trace->ended ? 0 : trace_file_more(&trace->file);

	trace->ended = !more;
	return more < 0 ? more : 0;
}

/* ---- events ---- */

static void record_find(struct trace *trace, const struct merge_head *head,
			uint64_t key, struct trace_met *met)
{
	struct match_point *point = match_record(&trace->match, head->record);
	struct match_point *counting =
		point ? match_counting(&trace->match, point, head->record) :
			NULL;

	*met = (struct trace_met){
		.key = key, .point = point,
		.sequence = counting ? sequence_find(&trace->sequences,
						     counting,
						     head->slice->index) : NULL,
	};
}

/* Find the next record. 0 or -ENOMEM; there may be none. */
static int trace_next(struct trace *trace)
{
	const struct merge_head *head = merge_next(&trace->merge, trace->until);
	struct trace_met *met;
	uint32_t slice;
	uint64_t key;
	size_t at;

	trace->next = head;
	if (trace->file.damage.exhausted)
		return -ENOMEM;
	if (!head)
		return 0;
	trace->time = (int64_t)(head->time +
				(uint64_t)trace->file.header.wall_offset);
	/* Its point and sequence are cached by key and slice. */
	key = match_key(head->record);
	slice = head->slice->index;
	at = key + (key >> 16) + 7 * slice;
	met = &trace->met[at % TRACE_MET];
	if (!met->sequence || met->key != key || met->sequence->slice != slice)
		record_find(trace, head, key, met);
	trace->point = met->point;
	trace->sequence = met->sequence;
	return met->sequence ? 0 : -ENOMEM;
}

/* ---- the heap ---- */

static bool trace_before(const struct trace *a, const struct trace *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return a->index < b->index;
}

static void heap_sink(struct stream *stream)
{
	struct trace **heap = stream->heap, *moved = heap[0];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < stream->queued) {
		if (child + 1 < stream->queued &&
		    trace_before(heap[child + 1], heap[child]))
			child++;
		if (!trace_before(heap[child], moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

static void heap_add(struct stream *stream, struct trace *trace)
{
	struct trace **heap = stream->heap;
	size_t at = stream->queued++;

	while (at && trace_before(trace, heap[(at - 1) / 2])) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = trace;
	trace->queued = true;
}

/* The next event of the trace whose one was given out. */
static int heap_refill(struct stream *stream)
{
	struct trace *top = stream->heap[0];

	stream->given = false;
	if (trace_next(top))
		return -ENOMEM;
	if (!top->next) {
		top->queued = false;
		stream->waiting |= !top->ended;
		stream->heap[0] = stream->heap[--stream->queued];
	}
	if (stream->queued > 1)
		heap_sink(stream);
	return 0;
}

/* ---- more of the traces ---- */

static int stream_begin(struct stream *stream)
{
	int code = 0;

	stream->begun = true;
	for (size_t i = 0; i < stream->count && !code; i++) {
		struct trace *trace = stream->traces[i];

		trace->file.slices.budget = WINDOW_ALL / stream->count;
		stream_trace_begin(stream, trace);
		code = trace_more(trace);
	}
	return code ? code : cycle_join(stream);
}

int stream_more(struct stream *stream)
{
	bool first = !stream->begun;
	int code = first ? stream_begin(stream) : 0;

	if (!code && stream->given)
		code = heap_refill(stream);
	stream->waiting = false;
	for (size_t i = 0; i < stream->count && !code; i++) {
		struct trace *trace = stream->traces[i];

		if (trace->queued)
			continue;
		if (!first)
			code = trace_more(trace);
		if (!code) {
			code = trace_open_up(stream, trace);
			if (!code)
				code = trace_next(trace);
			if (!code && trace->next)
				heap_add(stream, trace);
			else
				stream->waiting |= !trace->ended;
		}
	}
	return code;
}

/* The trace's next event is given out. */
static void event_count(struct stream *stream, struct trace *trace)
{
	int64_t time = trace->time;

	sequence_step(&trace->sequences, trace->sequence, trace->next);
	trace->sequence->point->present++;
	trace->unmatched += !trace->point->formatted;
	if (!stream->number++)
		stream->first = time;
	if (!trace->found++ || time >= trace->newest)
		trace->newest = time;
	else
		trace->late++;
}

int stream_next(struct stream *stream, struct event *event)
{
	struct trace *trace;

	if (stream->given && heap_refill(stream))
		return -ENOMEM;
	if (stream->waiting)
		return STREAM_WAIT;
	if (!stream->queued)
		return STREAM_END;
	trace = stream->heap[0];
	stream->given = true;
	event_count(stream, trace);
	*event = (struct event){
		.record = stack_ids_expand(&trace->file.stack_ids,
					   trace->next->record),
		.point = trace->point,
		.trace = trace,
		.number = stream->number,
		.time = trace->time,
		.cpu = trace->next->slice->cpu,
		.damaged = trace->next->slice->damaged,
	};
	return STREAM_EVENT;
}

void stream_finish(struct stream *stream)
{
	for (size_t i = 0; i < stream->count; i++)
		trace_file_finish(&stream->traces[i]->file);
}

void stream_close(struct stream *stream)
{
	struct point_sequence *sequence;
	size_t at;

	for (size_t i = 0; i < stream->count; i++) {
		struct trace *trace = stream->traces[i];

		merge_close(&trace->merge);
		at = 0;
		while ((sequence =
				key_map_next(&trace->sequences.by_place, &at)))
			free(sequence);
		key_map_free(&trace->sequences.by_place);
		if (trace->match.file)
			match_close(&trace->match);
		trace_file_free(&trace->file);
		free(trace);
	}
	free(stream->traces);
	free(stream->heap);
	*stream = (struct stream){ 0 };
}

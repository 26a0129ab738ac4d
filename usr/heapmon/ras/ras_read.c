// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/buffer/snapshot.h"
#include "lib/read/read.h"
#include "heapmon/core/warn.h"
#include "family.h"
#include "heap_record.h"
#include "loss.h"

struct reader_note {
	struct ras_heap_note note;
	size_t place;			/* in the file */
};

struct ras_reader {
	struct heap_input *input;
	const struct heap_sink *sink;
	struct heap_trace *trace;
	struct search search;
	struct stream stream;
	struct trace *records;		/* the only one of the stream */
	struct trace_file *file;
	struct symbols_settings settings;
	struct symbols *symbols;
	struct ras_frames frames;
	struct vtables vtables;
	struct family family;
	uint32_t pid;			/* of the last record; 0: look again */
	uint32_t mapped, memory;	/* family_mapped() of it, family_memory() */
	struct ras_heap_note last;	/* that was given */
	struct ras_loss loss;
	struct reader_note *notes;	/* those to be given by time */
	size_t note_count, note_room, note_at;
	int64_t time;			/* of the last record */
	uint64_t dropped;		/* calls that were reported as lost */
	uint64_t calls;			/* records of heapmon's */
	uint64_t misfits;		/* of these, that say nothing */
};

/* ---- opening ---- */

/* Bytes that are in memory already: the trace has its own. */
static int open_memory(struct ras_reader *reader, struct error *err)
{
	const struct heap_input *input = reader->input;
	void *copy = malloc(input->size + 1);

	if (!copy)
		return error_no_memory(err);
	memcpy(copy, input->data, input->size);
	return trace_file_open_memory(reader->file, copy, input->size,
				      input->path, err);
}

static int open_live(struct ras_reader *reader, struct error *err)
{
	size_t size;
	void *data;
	int ret = snapshot_take(reader->input->options->run, &data, &size, err);

	return ret ? ret : trace_file_open_memory(reader->file, data, size,
						  "the buffer", err);
}

static int ras_file_open(struct ras_reader *reader, struct error *err)
{
	if (reader->input->options->run)
		return open_live(reader, err);
	if (reader->input->data)
		return open_memory(reader, err);
	return trace_file_open(reader->file, reader->input->path, err);
}

static int note_compare(const void *a, const void *b)
{
	const struct reader_note *x = a, *y = b;

	if (x->note.time != y->note.time)
		return x->note.time < y->note.time ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static bool ras_note_take(struct ras_reader *reader,
			  const struct ras_heap_note *note)
{
	if (!array_grow(&reader->notes, reader->note_count, &reader->note_room,
			sizeof(*reader->notes)))
		return false;
	reader->notes[reader->note_count] = (struct reader_note){
		*note, reader->note_count,
	};
	reader->note_count++;
	return note->kind != RAS_HEAP_EXEC ||
	       family_expect(&reader->family, note->pid);
}

/* Those that have come, among those that weren't given yet. */
static bool ras_notes_take(struct ras_reader *reader)
{
	const struct trace_file *file = reader->file;
	size_t before = reader->note_count;

	while (reader->note_count < file->note_count)
		if (!ras_note_take(reader, &file->notes[reader->note_count]))
			return false;
	if (reader->note_count > before)
		qsort(reader->notes + reader->note_at,
		      reader->note_count - reader->note_at,
		      sizeof(*reader->notes), note_compare);
	return true;
}

static int ras_reader_open(struct ras_reader *reader, struct error *err)
{
	int ret;

	stream_open(&reader->stream, &reader->search, false);
	reader->stream.system = true;	/* nothing is printed */
	reader->records = stream_add(&reader->stream, reader->input->path);
	if (!reader->records)
		return error_no_memory(err);
	reader->file = &reader->records->file;
	ret = ras_file_open(reader, err);
	if (ret)
		stream_drop(&reader->stream);
	return ret;
}

/* 0 or -ENOMEM */
static int reader_begin(struct ras_reader *reader)
{
	reader->symbols = symbols_open(&reader->settings);
	reader->frames.symbols = reader->symbols;
	reader->frames.processes = &reader->file->processes;
	reader->vtables.table = &reader->file->processes;
	return reader->symbols ? 0 : -ENOMEM;
}

/* ---- what is known of the whole ---- */

static int64_t ras_wall(const struct ras_reader *reader, uint64_t time)
{
	return (int64_t)(time + (uint64_t)reader->file->header.wall_offset);
}

static void note_begin(struct ras_reader *reader,
		       const struct ras_heap_note *note)
{
	struct heap_trace *trace = reader->trace;
	const char *name = process_table_name(&reader->file->processes,
					      note->pid, note->time);

	if (note->a == 4 || note->a == 8)
		trace->bits = note->a * 8 > trace->bits ? note->a * 8 :
							  trace->bits;
	if (name && !trace->command)
		trace->command = heap_strings_add_length(&trace->strings, name,
							 16);
	if (trace->begin == HEAP_NO_TIME)
		trace->begin = ras_wall(reader, note->time);
}

/* ---- notes ---- */

static void old_warn(struct ras_reader *reader,
		     const struct ras_heap_note *note)
{
	const char *why;

	switch (note->b) {
	case RAS_HEAP_OLD_WHOLE:
		return;
	case RAS_HEAP_OLD_FOREIGN:
		why = "its allocator isn't glibc's";
		break;
	case RAS_HEAP_OLD_BROKEN:
		why = "they don't look like a heap";
		break;
	case RAS_HEAP_OLD_REFUSED:
		why = "it couldn't be stopped or read";
		break;
	default:
		why = "for an unknown reason";
	}
	heap_input_warn(reader->input, "process %u: not all blocks that were "
			"there before are known: %s", note->pid, why);
}

/* From here on a process is there, has other mappings, or is no longer. *known:
 * it was there before. */
static int family_note(struct ras_reader *reader,
		       const struct ras_heap_note *note, bool *known,
		       struct error *err)
{
	struct family *family = &reader->family;
	bool set = true;

	*known = family_has(family, note->pid);
	reader->pid = 0;
	switch (note->kind) {
	case RAS_HEAP_FORK:
		set = family_set(family, note->pid, note->a);
		break;
	case RAS_HEAP_SHARE:
		family_share(family, note->pid, note->a);
		break;
	case RAS_HEAP_BEGIN:
		if (!*known)
			set = family_set(family, note->pid, 0);
		if (note->a == 4 || note->a == 8)
			family_set_bytes(family, note->pid, note->a);
		break;
	case RAS_HEAP_EXEC:
		set = family_execute(family, note->pid);
		break;
	case RAS_HEAP_EXIT:
		family_end(family, note->pid);
		break;
	}
	return set ? 0 : error_no_memory(err);
}

/* A block that was there, as its first word names it. */
static void old_fill(struct ras_reader *reader,
		     const struct ras_heap_note *note, struct heap_event *event)
{
	const struct ras_heap_note *word = &reader->last;
	const struct family *family = &reader->family;

	if (word->kind == RAS_HEAP_OLD_WORD && word->pid == note->pid &&
	    word->a == note->a)
		event->type_kind = vtables_find(&reader->vtables,
				family_mapped(family, &reader->file->processes,
					      note->pid), word->b,
				family_bytes(family, note->pid), &event->type);
}

static int note_give(struct ras_reader *reader,
		     const struct ras_heap_note *note, struct error *err)
{
	struct heap_event event = {
		.pid = note->pid, .time = ras_wall(reader, note->time),
	};
	bool known;
	int ret = family_note(reader, note, &known, err);

	if (ret)
		return ret;
	switch (note->kind) {
	case RAS_HEAP_BEGIN:
		if (known)
			return 0;
		event.kind = HEAP_BEGIN;
		break;
	case RAS_HEAP_FORK:
		event.kind = HEAP_FORK;
		event.parent = family_memory(&reader->family, note->a);
		break;
	case RAS_HEAP_EXEC:
		event.kind = HEAP_EXEC;
		break;
	case RAS_HEAP_EXIT:
		event.kind = HEAP_EXIT;
		break;
	case RAS_HEAP_OLD:
		old_fill(reader, note, &event);
		/* fall through */
	case RAS_HEAP_GROW:
		event.kind = note->kind == RAS_HEAP_OLD ? HEAP_OLD : HEAP_GROW;
		event.address = note->a;
		event.size = note->b;
		break;
	case RAS_HEAP_OLD_END:
		old_warn(reader, note);
		return 0;
	default:
		return 0;
	}
	return heap_sink_take(reader->sink, &event, err);
}

static int notes_give(struct ras_reader *reader, uint64_t until,
		      struct error *err)
{
	while (reader->note_at < reader->note_count) {
		const struct ras_heap_note *note =
			&reader->notes[reader->note_at].note;
		int ret;

		if (note->time > until)
			return 0;
		reader->note_at++;
		ret = note_give(reader, note, err);
		reader->last = *note;
		if (ret)
			return ret;
	}
	return 0;
}

/* ---- records ---- */

/* When calls were dropped is not known. */
static int loss_give(struct ras_reader *reader, int64_t time, uint64_t lost,
		     bool lasts, struct error *err)
{
	struct heap_event event = {
		.kind = HEAP_LOSS, .time = time, .lost = lost,
		.lasts = lasts || reader->loss.open || reader->dropped,
	};

	return heap_sink_take(reader->sink, &event, err);
}

/* What comes before a record: notes, and gaps. */
static int front_give(struct ras_reader *reader, const struct event *event,
		      struct error *err)
{
	uint64_t time = event->record->time;
	struct loss_front front;
	bool within;		/* something comes in the gap */
	int ret = loss_before(&reader->loss, &reader->file->slices,
			      reader->records->next, &front);

	if (ret)
		return error_no_memory(err);
	within = !front.ends || (reader->note_at < reader->note_count &&
				 reader->notes[reader->note_at].note.time <=
				 time);
	if (front.begins && within)
		ret = loss_give(reader, reader->time, HEAP_LOST_UNKNOWN, true,
				err);
	if (!ret)
		ret = notes_give(reader, time, err);
	if (!ret && front.ends)
		ret = loss_give(reader, event->time, HEAP_LOST_UNKNOWN, false,
				err);
	return ret;
}

static void event_fill(struct ras_reader *reader,
		       const struct ras_record *record,
		       const struct heap_record *call,
		       struct heap_event *event)
{
	if (reader->pid != record->pid || !reader->pid) {
		reader->pid = record->pid;
		reader->mapped = family_mapped(&reader->family,
					       &reader->file->processes,
					       record->pid);
		reader->memory = family_memory(&reader->family, record->pid);
	}
	event->pid = reader->memory;
	event->tid = record->tid;
	event->time = ras_wall(reader, record->time);
	if (call->stack)
		event->stack = frames_stack(&reader->frames, reader->mapped,
					    call->stack_end, call->stack,
					    call->stack_bytes);
	if (call->has_word)
		event->type_kind = vtables_find(&reader->vtables,
						reader->mapped, call->word,
						call->word_bytes, &event->type);
}

/* One of heapmon's: what it says, or that it says nothing. */
static int record_give(struct ras_reader *reader, const struct event *from,
		       struct error *err)
{
	const struct ras_record *record = from->record;
	struct event_data data = event_data(from);
	struct heap_event event = { .kind = HEAP_ALLOC };
	struct heap_record call;

	reader->calls++;
	if (record->flags & RAS_RECORD_MUTED)
		return loss_give(reader, ras_wall(reader, record->time),
				 HEAP_LOST_UNKNOWN, false, err);
	if (data.misfit || !heap_record_parse(&call, data.data, data.length) ||
	    !heap_record_event(&call, record->minor, &event)) {
		reader->misfits++;
		return 0;
	}
	event_fill(reader, record, &call, &event);
	return heap_sink_take(reader->sink, &event, err);
}

/* Calls that were lost, as far as the counters show so far. */
static int dropped_give(struct ras_reader *reader, struct error *err)
{
	uint64_t dropped = loss_dropped(reader->file);
	uint64_t more = dropped - reader->dropped;

	if (dropped <= reader->dropped)
		return 0;
	reader->dropped = dropped;
	return loss_give(reader, reader->trace->begin, more, true, err);
}

/* What has come of the file, as far as nothing older can come any more. Of a file
 * on a disk that is all. */
static int records_give(struct ras_reader *reader, int *more,
			struct error *err)
{
	struct event event;
	int ret = dropped_give(reader, err);

	while (!ret && (*more = stream_next(&reader->stream, &event)) ==
	       STREAM_EVENT) {
		ret = front_give(reader, &event, err);
		reader->time = event.time;
		if (!ret && event.record->major == HEAP_MAJOR &&
		    event.point->session)
			ret = record_give(reader, &event, err);
	}
	if (!ret && *more < 0)
		return error_no_memory(err);
	if (!ret)
		ret = notes_give(reader, reader->records->until, err);
	reader->trace->lost = reader->dropped +
			      loss_overwritten(reader->file,
					       &reader->records->match);
	return ret;
}

/* ---- the end ---- */

static int ras_damage_warn(struct ras_reader *reader, struct error *err)
{
	struct heap_input *input = reader->input;
	struct damage *damage = &reader->file->damage;

	stream_finish(&reader->stream);
	if (reader->misfits)
		damage_add(damage, "%llu records that make no sense",
			   (unsigned long long)reader->misfits);
	for (size_t i = 0; i < damage->count && i < DAMAGE_LINES; i++)
		heap_input_warn(input, "%s", damage->lines[i]);
	if (damage->count > DAMAGE_LINES)
		heap_input_warn(input, "%zu more of the kind",
				damage->count - DAMAGE_LINES);
	reader->trace->damaged = damage->count;
	if (!damage->count)
		return 0;
	return error_set(err, -EBADMSG, "'%s' is damaged: what could be read "
			 "of it was used", input->path);
}

/* A trace of something else; of the live buffer it isn't known yet. */
static int heap_check(const struct ras_reader *reader, struct error *err)
{
	if (reader->calls || reader->note_count ||
	    reader->file->source.pipe || reader->input->options->run)
		return 0;
	error_set(err, -EINVAL, "there is no heap in '%s'",
		  reader->input->path);
	error_hint(err, "heapmon record makes recordings of heaps, "
		   "tracefmt prints others");
	return -EINVAL;
}

static int reader_run(struct ras_reader *reader, struct error *err)
{
	int ret, more;
	const char *dir;
	size_t at;
	struct heap_trace *trace;

	if (reader_begin(reader))
		return error_no_memory(err);
	do {
		if (stream_more(&reader->stream) || !ras_notes_take(reader))
			return error_no_memory(err);
		trace = reader->trace;
		trace->host =
			heap_strings_add(&trace->strings, reader->file->host);
		trace->big_endian = __BYTE_ORDER == __BIG_ENDIAN;
		for (size_t i = reader->note_at; i < reader->note_count; i++) {
			const struct ras_heap_note *note =
				&reader->notes[i].note;

			if (note->kind == RAS_HEAP_SETTINGS) {
				trace->sample = note->a;
				trace->min_size = note->b;
			} else if (note->kind == RAS_HEAP_PAGE) {
				trace->page = note->a;
			} else if (note->kind == RAS_HEAP_BEGIN) {
				note_begin(reader, note);
			}
		}
		ret = records_give(reader, &more, err);
	} while (!ret && more == STREAM_WAIT);
	if (ret)
		return ret;
	if (reader->frames.failed || reader->vtables.failed ||
	    symbols_failed(reader->symbols))
		return error_no_memory(err);
	at = 0;
	while ((dir = symbols_useless(&reader->settings, &at)))
		heap_input_warn(
			reader->input,
			"--symbols '%s' has no file of a build-id that is in it",
			dir);
	ret = ras_damage_warn(reader, err);
	return ret ? ret : heap_check(reader, err);
}

static int ras_read_events(struct heap_input *input,
			   const struct heap_sink *sink, struct error *err)
{
	struct ras_reader *reader = calloc(1, sizeof(*reader));
	int ret;

	if (!reader)
		return error_no_memory(err);
	reader->input = input;
	reader->sink = sink;
	reader->trace = input->trace;
	reader->time = HEAP_NO_TIME;
	reader->settings = (struct symbols_settings){
		.off = input->options->no_symbols,
		.dirs = input->options->symbols,
		.dir_count = input->options->symbol_count,
		.use = calloc(input->options->symbol_count + 1, 1),
	};
	reader->frames.trace = input->trace;
	reader->vtables.settings = &reader->settings;
	reader->vtables.strings = &input->trace->strings;
	ret = ras_reader_open(reader, err);
	if (!ret)
		ret = reader_run(reader, err);
	frames_free(&reader->frames);
	vtables_free(&reader->vtables);
	symbols_close(reader->symbols);
	family_free(&reader->family);
	loss_free(&reader->loss);
	free(reader->notes);
	stream_close(&reader->stream);
	search_free(&reader->search);
	free(reader->settings.use);
	free(reader);
	return ret;
}

static int ras_detect(const uint8_t *data, size_t size)
{
	return size >= 8 && !memcmp(data, RAS_FILE_MAGIC, 8) ? 2 : 0;
}

const struct heap_format format_ras = {
	.name = "ras",
	.help = "a recording (heapmon record)",
	.detect = ras_detect,
	.read_events = ras_read_events,
};

// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/buffer/picture.h"
#include "lib/read/read.h"
#include "heapmon/core/format.h"
#include "heap_record.h"

#define GENERATIONS	16

struct reader_note {
	struct ras_heap_note note;
	size_t place;			/* in the file */
};

/* A process. */
struct family_member {
	uint32_t pid, parent;	/* parent 0: it has a program of its own */
	uint32_t memory;	/* whose it works in; 0: it has its own */
	uint32_t owner_set;	/* `set` of that one then */
	uint32_t set;		/* how often it began */
	uint32_t programs;	/* that it will execute yet */
	uint8_t bytes;		/* of its pointers; 0: not known */
	bool ended;
};

/*
 * What is missing. A gap of a slice begins at its last record: when that was given
 * out the next one is read, so that the gap is known before records of other
 * slices follow.
 */
struct ras_loss {
	uint64_t *gaps;			/* of each slice, in front of its last
					 * record */
	size_t slices, room;
	uint64_t known;			/* of all slices, when it was last read */
	size_t open;			/* slices that are in a gap now */
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
	struct record_names names;
	struct key_map family;		/* members by process id */
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

/* ---- whose memory a process works in, whose mappings it has ---- */

/* NULL: it isn't there. */
static struct family_member *family_find(const struct ras_reader *reader,
					 uint32_t pid)
{
	return key_map_find(&reader->family, pid);
}

/* Found, or made as one that has ended; NULL: no memory. */
static struct family_member *family_get(struct ras_reader *reader, uint32_t pid)
{
	struct family_member *member = family_find(reader, pid);

	if (member)
		return member;
	member = calloc(1, sizeof(*member));
	if (!member || key_map_add(&reader->family, pid, member)) {
		free(member);
		return NULL;
	}
	member->pid = pid;
	member->ended = true;
	return member;
}

static void family_begin(struct family_member *member, uint32_t parent)
{
	member->parent = parent;
	member->memory = 0;
	member->set++;
	member->ended = false;
}

/* The process itself when it worked in another one's memory until one of both
 * began again. */
static uint32_t family_memory(const struct ras_reader *reader, uint32_t pid)
{
	const struct family_member *member = family_find(reader, pid), *owner;

	if (!member || !member->memory)
		return pid;
	owner = family_find(reader, member->memory);
	return owner->ended || owner->set != member->owner_set ? pid :
								  owner->pid;
}

/*
 * The nearest one whose mappings the table has; the process itself when there is
 * none. It has those of its parent when it ended before its own were read, or when
 * the table has only those of the program that it executed later on.
 */
static uint32_t family_mapped(const struct ras_reader *reader, uint32_t pid)
{
	uint32_t at = pid;

	for (int i = 0; i < GENERATIONS; i++) {
		const struct process_entry *known =
			process_table_find(&reader->file->processes, at);
		const struct family_member *member = family_find(reader, at);
		bool child = member && member->parent;

		if (known && known->map_count && !(child && member->programs))
			return at;
		if (!child)
			return pid;
		at = member->parent;
	}
	return pid;
}

static void family_share(const struct ras_reader *reader,
			 struct family_member *member, uint32_t pid)
{
	const struct family_member *owner = family_find(reader, pid);

	if (!member || !owner || owner == member)
		return;
	member->memory = pid;
	member->owner_set = owner->set;
}

/* ---- what is missing ---- */

static uint64_t loss_covered(uint64_t total, uint64_t base)
{
	return total > base ? total - base : 0;
}

/* Also what is missing in front of its first record. */
static uint64_t slice_gaps(const struct trace_slice *slice)
{
	return (uint64_t)slice->gaps + slice->wrapped;
}

/* In front of the next record: a gap begins, after the record before; the last one
 * that was open ends. False: no memory. */
static bool loss_before(struct ras_reader *reader, bool *begins, bool *ends)
{
	const struct trace_slice *slice = reader->records->next->slice;
	const struct slices *slices = &reader->file->slices;
	struct ras_loss *loss = &reader->loss;

	if (!array_extend(&loss->gaps, &loss->slices, &loss->room,
			  sizeof(*loss->gaps), slices->count))
		return false;
	*begins = slices->gaps != loss->known;
	*ends = slice_gaps(slice) != loss->gaps[slice->index];
	if (!*begins && !*ends)
		return true;
	loss->gaps[slice->index] = slice_gaps(slice);
	loss->known = slices->gaps;
	loss->open = 0;
	for (size_t i = 0; i < slices->count; i++)
		loss->open += slice_gaps(slices->items[i]) != loss->gaps[i];
	*ends = !loss->open;
	return true;
}

static uint64_t point_dropped(const struct ras_count_total *total,
			      const struct ras_count_total *base)
{
	static const struct ras_count_total none;
	uint64_t missed = 0;

	base = base ? base : &none;
	if (total->missed != RAS_MISSED_UNKNOWN &&
	    base->missed != RAS_MISSED_UNKNOWN)
		missed = loss_covered(total->missed, base->missed);
	return missed + loss_covered(total->dropped, base->dropped);
}

/* Calls that were never recorded: their time isn't known. */
static uint64_t loss_dropped(const struct trace_file *file)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < file->session_count; i++) {
		const struct trace_session *session = file->sessions[i];

		if (session->entry->major != HEAP_MAJOR || !session->totals)
			continue;
		for (uint32_t p = 0; p < session->entry->points; p++)
			sum += point_dropped(&session->totals[p],
					     session->base ?
					     &session->base[p] : NULL);
	}
	return sum;
}

/* After the last record: records that were overwritten. One may be of a point by
 * its name, and be counted by another. */
static uint64_t loss_overwritten(const struct trace_file *file,
				 const struct match *match)
{
	uint64_t reached = 0, present = 0, counted, lost;
	const struct match_point *point;
	size_t at = 0;

	while ((point = key_map_next(&match->points, &at))) {
		if (!point->session ||
		    point->session->entry->major != HEAP_MAJOR)
			continue;
		reached += point->reached;
		present += point->present;
	}
	counted = file->pass.lost - file->lost_base;
	lost = loss_covered(reached, present);
	return lost > counted ? lost : counted;
}

/* ---- opening ---- */

static int ras_file_open(struct ras_reader *reader, struct error *err)
{
	const struct heap_input *input = reader->input;
	size_t size = input->size;
	void *data;
	int ret;

	if (!input->options->run && !input->data)
		return trace_file_open(reader->file, input->path, err);
	if (input->options->run) {
		ret = snapshot_take(input->options->run, &data, &size, err);
		if (ret)
			return ret;
	} else {
		/* the trace has its own */
		data = malloc(size + 1);
		if (!data)
			return error_no_memory(err);
		memcpy(data, input->data, size);
	}
	return trace_file_open_memory(reader->file, data, size,
				      input->options->run ? "the buffer" :
							    input->path,
				      err);
}

static int note_compare(const void *a, const void *b)
{
	const struct reader_note *x = a, *y = b;

	if (x->note.time != y->note.time)
		return x->note.time < y->note.time ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Those that have come, among those that weren't given yet. */
static bool ras_notes_take(struct ras_reader *reader)
{
	const struct trace_file *file = reader->file;
	size_t before = reader->note_count;
	struct family_member *member;

	while (reader->note_count < file->note_count) {
		const struct ras_heap_note *note =
			&file->notes[reader->note_count];

		if (!array_grow(&reader->notes, reader->note_count,
				&reader->note_room, sizeof(*reader->notes)))
			return false;
		reader->notes[reader->note_count] = (struct reader_note){
			*note, reader->note_count,
		};
		reader->note_count++;
		if (note->kind != RAS_HEAP_EXEC)
			continue;
		member = family_get(reader, note->pid);
		if (!member)
			return false;
		member->programs++;
	}
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
	static const char *const whys[] = {
		[RAS_HEAP_OLD_FOREIGN] = "its allocator isn't glibc's",
		[RAS_HEAP_OLD_BROKEN] = "they don't look like a heap",
		[RAS_HEAP_OLD_REFUSED] = "it couldn't be stopped or read",
	};
	const char *why = note->b < sizeof(whys) / sizeof(*whys) ?
		whys[note->b] : NULL;

	if (note->b != RAS_HEAP_OLD_WHOLE)
		heap_input_warn(reader->input, "process %u: not all blocks that "
				"were there before are known: %s", note->pid,
				why ? why : "for an unknown reason");
}

/* A block that was there, as its first word names it. */
static void old_fill(struct ras_reader *reader,
		     const struct ras_heap_note *note,
		     const struct family_member *member,
		     struct heap_event *event)
{
	const struct ras_heap_note *word = &reader->last;

	if (word->kind == RAS_HEAP_OLD_WORD && word->pid == note->pid &&
	    word->a == note->a)
		event->type_kind = record_names_class(
			&reader->names, family_mapped(reader, note->pid),
			word->b, member && member->bytes ? member->bytes : 8,
			&event->type);
}

/* From here on a process is there, has other mappings, or is no longer; or what the
 * note says of its heap. */
static int note_give(struct ras_reader *reader,
		     const struct ras_heap_note *note, struct error *err)
{
	struct heap_event event = {
		.pid = note->pid, .time = ras_wall(reader, note->time),
	};
	bool begins = note->kind == RAS_HEAP_FORK ||
		      note->kind == RAS_HEAP_BEGIN ||
		      note->kind == RAS_HEAP_EXEC;
	struct family_member *member = begins ?
		family_get(reader, note->pid) : family_find(reader, note->pid);

	if (begins && !member)
		return error_no_memory(err);
	reader->pid = 0;
	switch (note->kind) {
	case RAS_HEAP_BEGIN:
		if (note->a == 4 || note->a == 8)
			member->bytes = note->a;
		if (!member->ended)
			return 0;
		family_begin(member, 0);
		event.kind = HEAP_BEGIN;
		break;
	case RAS_HEAP_FORK:
		family_begin(member, note->a);
		event.kind = HEAP_FORK;
		event.parent = family_memory(reader, note->a);
		break;
	case RAS_HEAP_SHARE:
		family_share(reader, member, note->a);
		return 0;
	case RAS_HEAP_EXEC:
		if (member->programs)
			member->programs--;
		family_begin(member, 0);
		event.kind = HEAP_EXEC;
		break;
	case RAS_HEAP_EXIT:
		if (member)
			member->ended = true;
		event.kind = HEAP_EXIT;
		break;
	case RAS_HEAP_OLD:
		old_fill(reader, note, member, &event);
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
	bool begins, ends;
	bool within;		/* something comes in the gap */
	int ret = 0;

	if (!loss_before(reader, &begins, &ends))
		return error_no_memory(err);
	within = !ends || (reader->note_at < reader->note_count &&
			   reader->notes[reader->note_at].note.time <= time);
	if (begins && within)
		ret = loss_give(reader, reader->time, HEAP_LOST_UNKNOWN, true,
				err);
	if (!ret)
		ret = notes_give(reader, time, err);
	if (!ret && ends)
		ret = loss_give(reader, event->time, HEAP_LOST_UNKNOWN, false,
				err);
	return ret;
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
	if (reader->pid != record->pid || !reader->pid) {
		reader->pid = record->pid;
		reader->mapped = family_mapped(reader, record->pid);
		reader->memory = family_memory(reader, record->pid);
	}
	event.pid = reader->memory;
	event.tid = record->tid;
	event.time = ras_wall(reader, record->time);
	if (call.stack)
		event.stack = record_names_stack(&reader->names,
						 reader->mapped, &call);
	if (call.has_word)
		event.type_kind = record_names_class(
			&reader->names, reader->mapped, call.word,
			call.word_bytes, &event.type);
	return heap_sink_take(reader->sink, &event, err);
}

/* What has come of the file, as far as nothing older can come any more. Of a file
 * on a disk that is all. */
static int records_give(struct ras_reader *reader, int *more,
			struct error *err)
{
	uint64_t dropped = loss_dropped(reader->file), lost;
	struct event event;
	int ret = 0;

	/* calls that were lost, as far as the counters show so far */
	if (dropped > reader->dropped) {
		lost = dropped - reader->dropped;
		reader->dropped = dropped;
		ret = loss_give(reader, reader->trace->begin, lost, true, err);
	}
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

	reader->names.processes = &reader->file->processes;
	reader->names.symbols = symbols_open(&reader->settings);
	if (!reader->names.symbols)
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
	if (reader->names.failed || symbols_failed(reader->names.symbols))
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
	struct family_member *member;
	size_t at = 0;
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
	reader->names.trace = input->trace;
	reader->names.settings = &reader->settings;
	ret = ras_reader_open(reader, err);
	if (!ret)
		ret = reader_run(reader, err);
	record_names_free(&reader->names);
	while ((member = key_map_next(&reader->family, &at)))
		free(member);
	key_map_free(&reader->family);
	free(reader->loss.gaps);
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

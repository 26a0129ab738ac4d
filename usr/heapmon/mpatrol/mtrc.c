// SPDX-License-Identifier: GPL-2.0
/* mpatrol's tracing file, "MTRC". */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/key_map.h"
#include "lib/outfile.h"
#include "mpatrol.h"

#define MTRC_MAGIC	"MTRC"
#define MTRC_SOURCES	10405	/* from this version on, records have thread and
				 * source */
#define MTRC_RESIZES	10404	/* ... there are R; before, a second A of an
				 * index means that */

static const char mtrc_letters[] = {
	[HEAP_ALLOC] = 'A', [HEAP_REALLOC] = 'R', [HEAP_FREE] = 'F',
	[HEAP_GROW] = 'H', [HEAP_INTERNAL] = 'I',
};

/* Records of blocks have an index and a source, others only address and size. */
static bool kind_indexed(enum heap_kind kind)
{
	return kind != HEAP_GROW && kind != HEAP_INTERNAL;
}

/* ---- reading ---- */

#define SLOTS	128	/* 7 bits; slot 0 is not used */

/* The block of an index. */
struct mtrc_block {
	uint64_t address;
	bool live;
};

struct mtrc_name_cache {
	uint32_t names[SLOTS];
	bool defined[SLOTS];
};

/* Errors in the file, in the order of the texts. */
enum mtrc_complaint {
	UNKNOWN_INDEX, FREED_INDEX, LIVE_INDEX, UNDEFINED_SLOT, LONG_THREAD,
	MTRC_COMPLAINTS,
};

static const char *const complaint_texts[MTRC_COMPLAINTS] = {
	"a block was resized or freed whose index the file doesn't know",
	"a block was resized or freed that was freed already",
	"an index was allocated twice without being freed",
	"a name was used from a slot that nothing was put in",
	"of a thread id only the lower 32 bits are taken",
};

struct mtrc_reader {
	struct heap_input *input;
	struct mpatrol_cursor cursor;
	uint64_t version;
	struct mtrc_name_cache functions, files;
	struct key_map numbers;		/* of blocks, by index */
	struct mtrc_block *blocks;	/* from 1 */
	size_t block_count, block_room;
	uint64_t complaints[MTRC_COMPLAINTS];
};

static uint32_t name_read(struct mtrc_reader *reader,
			  struct mtrc_name_cache *cache)
{
	struct cursor *in = &reader->cursor.in;
	uint8_t byte = cursor_fixed(in, 1);
	uint8_t slot = byte & 0x7f;
	const char *text;

	if (byte & 0x80) {
		text = (const char *)in->at;
		while (cursor_fixed(in, 1))
			;
		cache->names[slot] = heap_strings_add_length(
			&reader->input->trace->strings, text,
			(const char *)in->at - text);
		cache->defined[slot] = true;
	} else if (slot && !cache->defined[slot] && !in->failed) {
		reader->complaints[UNDEFINED_SLOT]++;
	}
	return slot ? cache->names[slot] : 0;
}

/* Thread, function, file, line. */
static void mtrc_source_read(struct mtrc_reader *reader,
			     struct heap_event *event)
{
	struct heap_trace *trace = reader->input->trace;
	struct heap_frame frame = { 0 };
	uint64_t thread, line;

	thread = cursor_uleb(&reader->cursor.in);
	if (thread > UINT32_MAX)
		reader->complaints[LONG_THREAD]++;
	event->tid = thread;
	frame.symbol = name_read(reader, &reader->functions);
	frame.file = name_read(reader, &reader->files);
	line = cursor_uleb(&reader->cursor.in);
	frame.line = line <= UINT32_MAX ? line : 0;
	if (frame.symbol || frame.file)
		event->stack = heap_trace_stack(trace, 0,
					heap_trace_frame(trace, &frame));
}

/* What is known of the block by its index. 0 or -ENOMEM. */
static int event_complete(struct mtrc_reader *reader, struct heap_event *event)
{
	uint32_t number = key_map_number(&reader->numbers, event->index);
	struct mtrc_block *block = number ? &reader->blocks[number] : NULL;
	bool live = block && block->live;

	if (event->kind != HEAP_ALLOC && !live) {
		reader->complaints[block ? FREED_INDEX : UNKNOWN_INDEX]++;
	} else if (event->kind == HEAP_FREE) {
		event->address = block->address;
		block->live = false;
	} else if (event->kind == HEAP_REALLOC) {
		event->old = block->address;
	} else if (live && reader->version < MTRC_RESIZES) {
		event->kind = HEAP_REALLOC;
		event->old = block->address;
	} else if (live) {
		reader->complaints[LIVE_INDEX]++;
	}
	if (event->kind == HEAP_FREE)
		return 0;
	number = key_map_serial(&reader->numbers, event->index);
	if (!number || !array_extend(&reader->blocks, &reader->block_count,
				     &reader->block_room,
				     sizeof(*reader->blocks), number))
		return -ENOMEM;
	reader->blocks[number] = (struct mtrc_block){ event->address, true };
	return 0;
}

static int record_read(struct mtrc_reader *reader, struct heap_event *event,
		       struct error *err)
{
	struct cursor *in = &reader->cursor.in;
	const uint8_t *begin = in->at++;
	bool indexed = kind_indexed(event->kind);

	if (indexed)
		event->index = cursor_uleb(in);
	if (event->kind != HEAP_FREE) {
		event->address = cursor_uleb(in);
		event->size = cursor_uleb(in);
	}
	if (indexed && reader->version >= MTRC_SOURCES)
		mtrc_source_read(reader, event);
	if (in->failed) {
		in->at = begin;
		return mpatrol_damaged(&reader->cursor,
				       "a record is not whole", err);
	}
	return (indexed && event_complete(reader, event)) ||
	       reader->input->trace->failed ? error_no_memory(err) : 0;
}

/* All records up to the first letter that is none's, as the trailer's. */
static int records_read(struct mtrc_reader *reader,
			const struct heap_sink *sink, struct error *err)
{
	const struct cursor *in = &reader->cursor.in;
	int ret = 0;

	while (!ret && in->at < in->end) {
		const char *letter = memchr(mtrc_letters, *in->at,
					    sizeof(mtrc_letters));
		struct heap_event event = { .time = HEAP_NO_TIME };

		if (!letter || !*letter)
			return 0;
		event.kind = letter - mtrc_letters;
		ret = record_read(reader, &event, err);
		if (!ret)
			ret = heap_sink_take(sink, &event, err);
	}
	return ret;
}

static int mtrc_detect(const uint8_t *data, size_t size)
{
	return size >= 4 && !memcmp(data, MTRC_MAGIC, 4) ? 2 : 0;
}

static int mtrc_read_events(struct heap_input *input,
			    const struct heap_sink *sink, struct error *err)
{
	struct mtrc_reader reader = { .input = input };
	int ret = mpatrol_open(&reader.cursor, input, MTRC_MAGIC,
			       &reader.version, err);

	if (ret)
		return ret;
	mpatrol_version_check(input, reader.version);
	input->trace->no_stack = reader.version < MTRC_SOURCES;
	ret = records_read(&reader, sink, err);
	if (!ret && !mpatrol_magic(&reader.cursor, MTRC_MAGIC))
		ret = mpatrol_damaged(&reader.cursor,
				      mpatrol_left(&reader.cursor) ?
				      "an unknown record" : "no trailer", err);
	heap_input_warn_counts(input, complaint_texts,
			       reader.complaints, MTRC_COMPLAINTS);
	key_map_free(&reader.numbers);
	free(reader.blocks);
	return ret;
}

/* ---- a set of indices of blocks ---- */

struct index_set {
	struct key_map words;		/* numbers of words, by index / 64 */
	uint64_t *bits;			/* of each word */
	size_t count, room;
};

/* False: no memory. */
static bool index_set_add(struct index_set *set, uint64_t index)
{
	uint32_t word = key_map_serial(&set->words, index / 64);

	if (!word || !array_extend(&set->bits, &set->count, &set->room,
				   sizeof(*set->bits), word))
		return false;
	set->bits[word] |= UINT64_C(1) << index % 64;
	return true;
}

static bool index_set_has(const struct index_set *set, uint64_t index)
{
	uint32_t word = key_map_number(&set->words, index / 64);

	return word && set->bits[word] >> index % 64 & 1;
}

/* One that is there. */
static void index_set_remove(struct index_set *set, uint64_t index)
{
	uint32_t word = key_map_number(&set->words, index / 64);

	set->bits[word] &= ~(UINT64_C(1) << index % 64);
}

/* ---- --rebase ---- */

/*
 * Small numbers for old readers: the pages that are used are moved together,
 * from 0x1000 on, in their order and with a free page between those that were
 * not neighbours; threads are numbered from 1. Records wait in a temporary file
 * until all pages are known.
 */
#define PAGE		UINT64_C(0x1000)
#define LAST_PAGE	(UINT64_MAX / PAGE)
#define UNORDERED	1024	/* spans that may wait to be put in order */

/* Pages without a gap. */
struct rebase_span {
	uint64_t first;		/* page; array_count_upto() */
	uint64_t last;
	uint64_t moved;		/* where the first is now */
};

struct rebase {
	FILE *spool;
	struct rebase_span *spans;
	size_t span_count, span_room;
	size_t ordered;		/* the first so many ascend, with gaps between
				 * them */
	struct key_map threads;	/* their numbers */
	int error;		/* the first, a negative errno; 0 */
};

struct mtrc_record {
	enum heap_kind kind;
	uint64_t index, address, size;
	uint64_t thread;
	uint32_t stack;
};

/* 0, or a negative errno with err set. */
static int rebase_begin(struct rebase *rebase, struct error *err)
{
	int fd = temp_file_open(), ret = fd;

	if (fd >= 0) {
		rebase->spool = fdopen(fd, "w+");
		ret = rebase->spool ? 0 : -ENOMEM;
	}
	if (!ret)
		return 0;
	if (fd >= 0)
		close(fd);
	return error_set(err, ret, "cannot make a temporary file: %s",
			 strerror(-ret));
}

static void rebase_end(struct rebase *rebase)
{
	if (rebase->spool)
		fclose(rebase->spool);
	free(rebase->spans);
	key_map_free(&rebase->threads);
}

/* Of those in order: the one that the page is in; NULL: none. */
static const struct rebase_span *rebase_span_find(const struct rebase *rebase,
						  uint64_t page)
{
	size_t at = array_count_upto(rebase->spans, rebase->ordered,
				     sizeof(*rebase->spans), page);

	return at && rebase->spans[at - 1].last >= page ?
	       &rebase->spans[at - 1] : NULL;
}

/* All in order; those that overlap, or are neighbours, become one. */
static void spans_order(struct rebase *rebase)
{
	struct rebase_span *spans = rebase->spans;
	size_t count = 0;

	if (rebase->ordered == rebase->span_count)
		return;
	qsort(spans, rebase->span_count, sizeof(*spans), array_compare);
	for (size_t i = 0; i < rebase->span_count; i++) {
		struct rebase_span *last = count ? &spans[count - 1] : NULL;

		if (!last || spans[i].first > last->last + 1)
			spans[count++] = spans[i];
		else if (spans[i].last > last->last)
			last->last = spans[i].last;
	}
	rebase->span_count = rebase->ordered = count;
}

static bool pages_use(struct rebase *rebase, uint64_t address, uint64_t size)
{
	uint64_t first = address / PAGE, last = first;
	const struct rebase_span *span = rebase_span_find(rebase, first);

	if (size && size - 1 <= UINT64_MAX - address)
		last = (address + size - 1) / PAGE;
	else if (size)
		last = LAST_PAGE;
	if (span && last <= span->last)
		return true;
	if (!array_grow(&rebase->spans, rebase->span_count, &rebase->span_room,
			sizeof(*rebase->spans)))
		return false;
	rebase->spans[rebase->span_count++] =
		(struct rebase_span){first, last, 0};
	if (rebase->span_count - rebase->ordered > rebase->ordered + UNORDERED)
		spans_order(rebase);
	return true;
}

/* An error is returned by rebase_replay(). */
static void rebase_keep(struct rebase *rebase, const struct mtrc_record *record)
{
	if (rebase->error)
		return;
	if (record->kind != HEAP_FREE &&
	    !pages_use(rebase, record->address, record->size))
		rebase->error = -ENOMEM;
	else if (!fwrite(record, sizeof(*record), 1, rebase->spool))
		rebase->error = temp_file_fail(errno);
}

/* With its address and thread as they are to be written. */
static void record_move(struct rebase *rebase, struct mtrc_record *record)
{
	const struct rebase_span *span;

	if (record->kind != HEAP_FREE) {
		span = rebase_span_find(rebase, record->address / PAGE);
		record->address += (span->moved - span->first) * PAGE;
	}
	if (!record->thread)
		return;
	record->thread = key_map_serial(&rebase->threads, record->thread);
	if (!record->thread)
		rebase->error = -ENOMEM;
}

static int rebase_replay(struct rebase *rebase,
			 void (*put)(void *context,
				     const struct mtrc_record *record),
			 void *context, struct error *err)
{
	struct mtrc_record record;
	uint64_t page = 1;

	if (!rebase->error && fflush(rebase->spool))
		rebase->error = temp_file_fail(errno);
	rewind(rebase->spool);
	spans_order(rebase);
	for (size_t i = 0; i < rebase->span_count; i++) {
		rebase->spans[i].moved = page;
		page += rebase->spans[i].last - rebase->spans[i].first + 2;
	}
	while (!rebase->error &&
	       fread(&record, sizeof(record), 1, rebase->spool)) {
		record_move(rebase, &record);
		put(context, &record);
	}
	if (!rebase->error && ferror(rebase->spool))
		rebase->error = -EIO;
	if (rebase->error)
		error_set(err, rebase->error, "cannot keep the events in a temporary file: %s",
			  strerror(-rebase->error));
	return rebase->error;
}

/* ---- writing ---- */

#define WRITTEN_SLOTS	32	/* of mptrace, which has no more */

/* The names that the reader has in its slots. */
struct mtrc_slots {
	char *names[WRITTEN_SLOTS];	/* NULL: none yet */
	uint64_t used[WRITTEN_SLOTS];	/* when, the last time */
	uint64_t now;
};

struct mtrc_writer {
	struct heap_output *output;
	struct mpatrol_out out;
	struct mtrc_slots functions, files;
	struct index_set live;	/* blocks that are in the file */
	struct rebase rebase;	/* with --rebase: all is kept there first */
	uint32_t pid;		/* of the first event */
	bool pids, times, callers, functions_lost;
	bool failed;		/* no memory */
};

static bool slot_has(const struct mtrc_slots *cache, int slot, const char *name)
{
	return cache->names[slot] &&
	       !strncmp(cache->names[slot], name, CALLER_NAME_SIZE - 1);
}

/* The slot of the name; else one that is free, or was used the longest ago. */
static int mtrc_slot_find(const struct mtrc_slots *cache, const char *name)
{
	int oldest = 0;

	for (int slot = 0; slot < WRITTEN_SLOTS; slot++) {
		if (!cache->names[slot] || slot_has(cache, slot, name))
			return slot;
		if (cache->used[slot] < cache->used[oldest])
			oldest = slot;
	}
	return oldest;
}

static void mtrc_name_write(struct mtrc_writer *writer,
			    struct mtrc_slots *cache, const char *name)
{
	FILE *file = writer->out.file;
	int slot = mtrc_slot_find(cache, name);
	char *copy;

	if (!*name) {
		putc(0, file);
		return;
	}
	cache->used[slot] = ++cache->now;
	if (slot_has(cache, slot, name)) {
		putc(slot + 1, file);
		return;
	}
	copy = strndup(name, CALLER_NAME_SIZE - 1);
	if (!copy) {
		writer->failed = true;
		return;
	}
	free(cache->names[slot]);
	cache->names[slot] = copy;
	putc(0x80 | (slot + 1), file);
	fwrite(copy, 1, strlen(copy) + 1, file);
}

static void record_put(void *context, const struct mtrc_record *record)
{
	struct mtrc_writer *writer = context;
	struct mpatrol_out *out = &writer->out;
	bool indexed = kind_indexed(record->kind);
	struct caller caller;

	putc(mtrc_letters[record->kind], out->file);
	if (indexed)
		mpatrol_put_leb128(out, record->index);
	if (record->kind != HEAP_FREE) {
		mpatrol_put_leb128(out, record->address);
		mpatrol_put_leb128(out, record->size);
	}
	if (!indexed)
		return;
	caller_find(writer->output->trace, record->stack, &caller);
	mpatrol_put_leb128(out, record->thread);
	mtrc_name_write(writer, &writer->functions, caller.function);
	mtrc_name_write(writer, &writer->files, caller.file);
	mpatrol_put_leb128(out, caller.line);
}

static void mtrc_record_write(struct mtrc_writer *writer, enum heap_kind kind,
			      const struct heap_step *step,
			      const struct heap_block *block)
{
	struct mtrc_record record = {
		.kind = kind,
		.index = block ? block->index : 0,
		.address = step->event->address,
		.size = step->event->size,
		.thread = step->event->tid,
		.stack = step->event->stack,
	};

	if (writer->rebase.spool)
		rebase_keep(&writer->rebase, &record);
	else
		record_put(writer, &record);
}

/* ---- steps ---- */

static void free_write(struct mtrc_writer *writer, const struct heap_step *step,
		       const struct heap_block *gone)
{
	if (gone && index_set_has(&writer->live, gone->index)) {
		index_set_remove(&writer->live, gone->index);
		mtrc_record_write(writer, HEAP_FREE, step, gone);
		return;
	}
	heap_output_warn(writer->output, gone ?
			 "frees of blocks that were there before the recording are left out" :
			 "frees of unknown blocks are left out");
}

static void mtrc_block_step(struct mtrc_writer *writer,
			    const struct heap_step *step)
{
	const struct heap_block *lost = mpatrol_displaced(step);
	bool live;

	if (!step->came) {
		free_write(writer, step, step->gone);
		return;
	}
	if (lost && !lost->old) {
		heap_output_warn(writer->output,
				 "frees are put in for blocks in whose place others came");
		free_write(writer, step, lost);
	}
	live = index_set_has(&writer->live, step->came->index);
	if (!live && !index_set_add(&writer->live, step->came->index))
		writer->failed = true;
	mtrc_record_write(writer, live ? HEAP_REALLOC : HEAP_ALLOC, step,
			  step->came);
}

/* Note what the file can't hold. */
static void note_unheld(struct mtrc_writer *writer,
			const struct heap_event *event)
{
	const struct heap_trace *trace = writer->output->trace;

	if (!writer->pid)
		writer->pid = event->pid;
	writer->pids |= event->pid != writer->pid;
	writer->times |= event->time != HEAP_NO_TIME;
	writer->functions_lost |= event->function || event->tag;
	writer->callers |= event->stack && event->stack < trace->stack_count &&
			   trace->stacks[event->stack].depth > 1;
}

static int mtrc_step(struct heap_output *output, void *state,
		     const struct heap_model *model,
		     const struct heap_step *step, struct error *err)
{
	struct mtrc_writer *writer = state;
	enum heap_kind kind = step->event->kind;

	switch (kind) {
	case HEAP_ALLOC:
	case HEAP_REALLOC:
	case HEAP_FREE:
		note_unheld(writer, step->event);
		mtrc_block_step(writer, step);
		break;
	case HEAP_GROW:
	case HEAP_INTERNAL:
		mtrc_record_write(writer, kind, step, NULL);
		break;
	case HEAP_OLD:
		heap_output_warn(output,
				 "blocks that were there before the recording are left out");
		break;
	default:
		break;
	}
	return writer->failed ? error_no_memory(err) : 0;
}

/* ---- the format's functions ---- */

static int mtrc_begin(struct heap_output *output, void *state,
		      struct error *err)
{
	struct mtrc_writer *writer = state;
	int ret = 0;

	writer->output = output;
	writer->out = mpatrol_out_open(output);
	if (output->options->rebase)
		ret = rebase_begin(&writer->rebase, err);
	if (!ret)
		mpatrol_put_header(&writer->out, MTRC_MAGIC);
	return ret;
}

static void mtrc_warn_unheld(const struct mtrc_writer *writer)
{
	static const char *const texts[] = {
		"processes are not distinguished; --pid selects one",
		"times are left out",
		"of the callers only the innermost is kept",
		"the functions of the allocator are left out",
	};
	const bool unheld[] = { writer->pids, writer->times, writer->callers,
				writer->functions_lost };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (unheld[i])
			heap_output_warn(writer->output, texts[i]);
}

static int mtrc_end(struct heap_output *output, void *state,
		    const struct heap_model *model, bool failed,
		    struct error *err)
{
	struct mtrc_writer *writer = state;
	int ret = 0;

	if (!failed && writer->rebase.spool)
		ret = rebase_replay(&writer->rebase, record_put, writer, err);
	if (!failed && !ret)
		ret = writer->failed ? error_no_memory(err) :
		      mpatrol_put_trailer(&writer->out, MTRC_MAGIC, err);
	if (!failed && !ret)
		mtrc_warn_unheld(writer);
	for (int i = 0; i < WRITTEN_SLOTS; i++) {
		free(writer->functions.names[i]);
		free(writer->files.names[i]);
	}
	key_map_free(&writer->live.words);
	free(writer->live.bits);
	rebase_end(&writer->rebase);
	return ret;
}

const struct heap_format format_mtrc = {
	.name = "mtrc",
	.words = true,
	.help = "mpatrol tracing (mpatrol.trace)",
	.detect = mtrc_detect,
	.read_events = mtrc_read_events,
	.state_size = sizeof(struct mtrc_writer),
	.begin = mtrc_begin,
	.step = mtrc_step,
	.end = mtrc_end,
};

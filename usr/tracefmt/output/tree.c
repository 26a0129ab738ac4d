// SPDX-License-Identifier: GPL-2.0
/*
 * --tree: the calls of each thread, indented:
 *
 *	Process [app]  PID [38/0x0026]  TID [70000/0x11170]  Date [2026-02-03]
 *	18:07:32.052123456   1.203 us | (OS) DosSleep(n = 5) = 0
 *	18:07:32.052125456            | (OS) DosOpen(name = "x") {
 *	18:07:32.052126456     512 ns |   (OS) DosAlloc(size = 16) = 0
 *	18:07:32.052127000            |   (OS) in the middle: step = 3
 *	18:07:32.052129456   4.000 us | } = 0  (OS) DosOpen
 *
 * Of files thread after thread, of a pipe as the records come.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/key_map.h"
#include "lib/read/read.h"
#include "lib/outfile.h"
#include "tracefmt/pair/figures.h"
#include "tracefmt/pair/pairing.h"
#include "cell.h"

/* ---- the text of each thread ---- */

/*
 * Texts that grow side by side and are read one after the other. What has no
 * room in memory is spilled to an unnamed file.
 */

#define SPILL_MEMORY	(4u << 20)	/* bytes of text in memory */

struct spill_block {
	uint64_t offset, bytes;
};

/* One text: blocks in the file, then what is in memory. */
struct spill_text {
	struct spill_block *blocks;
	size_t block_count, block_room;
	struct text text;
	struct spill_text *next;	/* one more with bytes in memory */
};

struct spill {
	int fd;			/* -1: not opened yet */
	uint64_t end;		/* of the file */
	size_t used;		/* bytes in memory */
	struct spill_text *held;	/* those with bytes there */
};

/* Write all that is in memory to the file. */
static int spill_write(struct spill *spill)
{
	struct spill_text *of;
	int code;

	if (spill->fd < 0)
		spill->fd = temp_file_open();
	if (spill->fd < 0)
		return spill->fd;
	for (; (of = spill->held); spill->held = of->next) {
		struct spill_block *last = of->block_count ?
			&of->blocks[of->block_count - 1] : NULL;

		code = temp_file_write(spill->fd, of->text.data, of->text.used,
				       spill->end);
		if (code)
			return code;
		if (!last || last->offset + last->bytes != spill->end) {
			if (!array_grow(&of->blocks, of->block_count,
					&of->block_room, sizeof(*of->blocks)))
				return -ENOMEM;
			last = &of->blocks[of->block_count++];
			*last = (struct spill_block){ .offset = spill->end };
		}
		last->bytes += of->text.used;
		spill->end += of->text.used;
		free(of->text.data);
		of->text = (struct text){ 0 };
	}
	spill->used = 0;
	return 0;
}

/* Append n bytes, not 0. 0, or a negative errno. */
static int spill_add(struct spill *spill, struct spill_text *to,
		     const char *data, size_t n)
{
	int code = spill->used + n > SPILL_MEMORY ? spill_write(spill) : 0;

	if (code)
		return code;
	if (!to->text.used) {
		to->next = spill->held;
		spill->held = to;
	}
	text_add(&to->text, data, n);
	spill->used += n;
	return -to->text.error;
}

static void spill_text_free(struct spill_text *of)
{
	free(of->text.data);
	free(of->blocks);
	*of = (struct spill_text){ 0 };
}

/* Append all of it to text, and free it. Nothing may be added to any of the texts
 * after that. 0, or a negative errno. */
static int spill_take(struct spill *spill, struct spill_text *from,
		      struct text *text)
{
	int code = 0;

	for (size_t i = 0; i < from->block_count && !code; i++)
		code = temp_file_take(spill->fd, from->blocks[i].offset,
				      from->blocks[i].bytes, text);
	if (code)
		return code;
	text_add(text, from->text.data, from->text.used);
	spill_text_free(from);
	text_pass(text);
	return -text->error;
}

/* ---- threads and lines ---- */

#define TIME_WIDTH	18
#define LATENCY_WIDTH	12
#define INDENT_MAX	40	/* levels; deeper ones have their number */
#define NOT_TOLD	(EVENT_FAULT | EVENT_CUT | EVENT_PAGED_IN | \
			 EVENT_TAIL_CALL)	/* in their places */

/* The line of a PRE, as long as no record of the thread follows it. */
struct waiting {
	char *line;
	size_t length, latency_at;
	uint64_t number;	/* of the event; 0: none waits */
};

struct tree_thread {
	uint64_t buffer;	/* key of its trace's buffer */
	uint32_t pid, tid;
	char *title;
	struct waiting waiting;
	struct spill_text lines;
};

struct tree_output {
	struct pairing *pairing;
	struct key_map by_id;		/* thread, by tree_thread_hash() */
	struct tree_thread **threads;	/* in the order of their first events */
	size_t count, room;
	struct spill spill;
	struct text line;
	bool live;			/* of a pipe */
	const struct tree_thread *last;	/* live: the last line is its */
};

/* An event on its way into a line. */
struct shown {
	const struct output *output;
	const struct event *event;
	const struct pair_seen *seen;
	struct scratch *scratch;	/* decoded */
};

/* ---- parts of a line ---- */

/* Right in a column. */
static void tree_column(struct text *line, const char *word, size_t n,
			size_t width)
{
	text_add_blanks(line, n < width ? width - n : 0);
	text_add(line, word, n);
}

static void tree_time(struct text *line, struct clock *clock, int64_t time)
{
	char word[CLOCK_MAX];

	tree_column(line, word, clock_put(clock, time, word) - word,
		    TIME_WIDTH);
	TEXT_ADD(line, " ");
}

static void latency_column(struct text *line, int64_t ns)
{
	char word[LATENCY_MAX];

	tree_column(line, word, latency_put(ns, word) - word, LATENCY_WIDTH);
}

static void indent_put(struct text *line, uint32_t depth)
{
	TEXT_ADD(line, " | ");
	text_add_blanks(line, 2 * (depth < INDENT_MAX ? depth : INDENT_MAX));
	if (depth > INDENT_MAX)
		text_print(line, "<%u> ", depth);
}

static void tree_flags(const struct shown *of, struct text *line)
{
	const struct decode_result *result = &of->scratch->result;
	unsigned int flags = event_flags(of->event, result->status,
					 result->misfit) & ~NOT_TOLD;

	for (unsigned int i = 0; flags && i < EVENT_FLAGS; i++)
		if (flags & 1u << i)
			text_print(line, " <%s>", event_flag_words[i]);
}

/* " = 0, out = 5" of a POST, with what there is of it. */
static void outcome_put(const struct shown *of, struct text *line)
{
	const struct match_point *point = of->event->point;
	const struct field *value = arguments_return_field(point);
	size_t start = line->used, end;

	TEXT_ADD(line, " = ");
	end = line->used;
	arguments_return_put(of->output, of->event, of->scratch, line);
	if (line->used == end)
		line->used = start;
	if (value && point->fields.count > 1) {
		TEXT_ADD(line, ", ");
		end = line->used;
		arguments_put(of->output, of->event, of->scratch, value, line);
		line->used -= line->used == end ? 2 : 0;
	}
	tree_flags(of, line);
}

/* ---- threads ---- */

static int title_make(struct tree_thread *thread, const struct output *output,
		      const struct event *event)
{
	const struct ras_record *r = event->record;
	const char *comm = event_thread_comm(event);
	char date[32], name[4 * 16 + 1] = "", host[4 * 72 + 1] = "";
	struct clock clock = { .utc = output->settings->utc };

	if (comm)
		*text_put_safe(name, comm, strnlen(comm, 16)) = '\0';
	if (output->stream->count > 1)
		*text_put_safe(host, event->trace->file.host,
			       strlen(event->trace->file.host)) = '\0';
	clock_date(&clock, event->time, date, sizeof(date));
	return asprintf(&thread->title,
			"%s%s%s%s%s%sPID [%u/0x%04X]  TID [%u/0x%04X]  Date [%.10s]\n",
			*host ? "Host [" : "", host, *host ? "]  " : "",
			*name ? "Process [" : "", name, *name ? "]  " : "",
			r->pid, r->pid, r->tid, r->tid, date) < 0 ? -ENOMEM : 0;
}

static uint64_t tree_thread_hash(uint64_t buffer, uint32_t pid, uint32_t tid)
{
	return key_map_mix(buffer, (uint64_t)pid << 32 | tid);
}

static struct tree_thread *tree_thread_find(struct tree_output *tree,
					    uint64_t buffer, uint32_t pid,
					    uint32_t tid)
{
	uint64_t hash = tree_thread_hash(buffer, pid, tid);
	struct tree_thread *thread;
	size_t step = 0;

	while ((thread = key_map_each(&tree->by_id, hash, &step)))
		if (thread->buffer == buffer && thread->pid == pid &&
		    thread->tid == tid)
			break;
	return thread;
}

/* NULL: no memory. */
static struct tree_thread *thread_of(const struct output *output,
				     const struct event *event)
{
	uint64_t buffer = event->trace->file.header.key;
	uint32_t pid = event->record->pid, tid = event->record->tid;
	struct tree_output *tree = output->own;
	struct tree_thread *thread = tree_thread_find(tree, buffer, pid, tid);

	if (thread)
		return thread;
	if (!array_grow(&tree->threads, tree->count, &tree->room,
			sizeof(*tree->threads)) ||
	    key_map_reserve(&tree->by_id))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->buffer = buffer;
	thread->pid = pid;
	thread->tid = tid;
	tree->threads[tree->count++] = thread;
	key_map_add(&tree->by_id, tree_thread_hash(buffer, pid, tid), thread);
	return title_make(thread, output, event) ? NULL : thread;
}

/* ---- lines ---- */

/* The line is the thread's; where it goes. 0, or a negative errno. */
static int line_give(struct tree_output *tree, struct tree_thread *thread,
		     struct text *text)
{
	struct text *line = &tree->line;
	int code = -line->error;

	if (!code && !tree->live) {
		code = spill_add(&tree->spill, &thread->lines, line->data,
				 line->used);
	} else if (!code) {
		if (tree->last && tree->last != thread)
			TEXT_ADD(text, "\n");
		if (tree->last != thread)
			text_add_string(text, thread->title);
		tree->last = thread;
		text_add(text, line->data, line->used);
		code = -text->error;
	}
	line->used = 0;
	return code;
}

static int line_wait(struct tree_output *tree, struct tree_thread *thread,
		     size_t latency_at, uint64_t number)
{
	struct text *line = &tree->line;

	if (line->error)
		return -line->error;
	thread->waiting = (struct waiting){
		.line = malloc(line->used), .length = line->used,
		.latency_at = latency_at, .number = number,
	};
	if (!thread->waiting.line)
		return -ENOMEM;
	memcpy(thread->waiting.line, line->data, line->used);
	line->used = 0;
	return 0;
}

/* The line that waits is the line now. */
static int waiting_take(struct tree_output *tree, struct tree_thread *thread)
{
	struct waiting *w = &thread->waiting;

	if (text_reserve(&tree->line, w->length))
		return -ENOMEM;
	memcpy(tree->line.data, w->line, w->length);
	tree->line.used = w->length;
	free(w->line);
	*w = (struct waiting){ 0 };
	return 0;
}

/* Print it, with `end` at its end. */
static int waiting_give(struct tree_output *tree, struct tree_thread *thread,
			const char *end, struct text *text)
{
	if (!thread->waiting.number)
		return 0;
	if (waiting_take(tree, thread))
		return -ENOMEM;
	text_add_string(&tree->line, end);
	TEXT_ADD(&tree->line, "\n");
	return line_give(tree, thread, text);
}

static int waiting_open(struct tree_output *tree, struct tree_thread *thread,
			struct text *text)
{
	return waiting_give(tree, thread, " {", text);
}

/* ---- events ---- */

static int pre_add(const struct shown *of, struct tree_thread *thread,
		   struct text *text)
{
	struct tree_output *tree = of->output->own;
	struct text *line = &tree->line;
	int code = waiting_open(tree, thread, text);
	size_t latency_at;

	if (code)
		return code;
	tree_time(line, &of->scratch->clock, of->event->time);
	latency_at = line->used;
	text_add_blanks(line, LATENCY_WIDTH);
	indent_put(line, of->seen->depth);
	text_add_string(line, output_desc(of->output, of->seen->name));
	TEXT_ADD(line, "(");
	arguments_put(of->output, of->event, of->scratch, NULL, line);
	TEXT_ADD(line, ")");
	tree_flags(of, line);
	if (!tree->live)
		return line_wait(tree, thread, latency_at, of->event->number);
	TEXT_ADD(line, " {\n");
	return line_give(tree, thread, text);
}

/* The call and its POST on one line. */
static int tree_leaf(const struct shown *of, struct tree_thread *thread,
		     struct text *text)
{
	struct tree_output *tree = of->output->own;
	size_t latency_at = thread->waiting.latency_at, end;
	struct text *line = &tree->line;

	if (waiting_take(tree, thread))
		return -ENOMEM;
	end = line->used;
	latency_column(line, of->seen->latency);
	if (!line->error)
		memcpy(line->data + latency_at, line->data + end,
		       LATENCY_WIDTH);
	line->used = end;
	outcome_put(of, line);
	TEXT_ADD(line, "\n");
	return line_give(tree, thread, text);
}

/* The call has no POST. */
static int tree_unmatched(const struct output *output,
			  const struct pair_call *call, const char *note,
			  struct text *text)
{
	struct tree_output *tree = output->own;
	struct tree_thread *thread = tree_thread_find(
		tree, call->trace->file.header.key, call->pid, call->tid);
	char end[64];
	int code;

	if (!thread)
		return 0;
	snprintf(end, sizeof(end), " <%s>", note);
	if (thread->waiting.number == call->number)
		return waiting_give(tree, thread, end, text);
	code = waiting_open(tree, thread, text);
	if (code)
		return code;
	text_add_blanks(&tree->line, TIME_WIDTH + 1 + LATENCY_WIDTH);
	indent_put(&tree->line, call->depth);
	text_print(&tree->line, "} <%s>  %s\n", note,
		   output_desc(output, call->name));
	return line_give(tree, thread, text);
}

/* DESC without the line end */
static void title_add(const struct output *output,
		      const struct match_point *point, struct text *line)
{
	const char *bare = output_desc(output, point->title);

	text_add(line, bare,
		 point->title_length - 1 - (bare - point->title));
}

static int tree_event(struct output *output, const struct event *event,
		      struct text *text, struct scratch *scratch)
{
	struct tree_output *tree = output->own;
	struct tree_thread *thread = thread_of(output, event);
	struct pair_seen seen;
	struct shown of = { output, event, &seen, scratch };
	const char *note;
	int code = 0;
	const struct match_point *point;
	struct text *line;
	size_t end;
	bool matched;

	if (!thread || pairing_see(tree->pairing, event, &seen) ||
	    output_decode(event, scratch, NULL))
		return -ENOMEM;
	note = seen.role == PAIR_PRE ? "too many open calls" : "no POST";
	for (size_t i = 0; i < seen.unmatched_count && !code; i++)
		code = tree_unmatched(output, &seen.unmatched[i], note, text);
	if (code)
		return code;
	if (seen.role == PAIR_PRE)
		return pre_add(&of, thread, text);
	if (seen.role == PAIR_PLAIN) {
		point = event->point;
		line = &tree->line;
		code = waiting_open(tree, thread, text);
		if (code)
			return code;
		tree_time(line, &scratch->clock, event->time);
		text_add_blanks(line, LATENCY_WIDTH);
		indent_put(line, seen.depth);
		if (point->formatted)
			title_add(output, point, line);
		else
			text_print(line, "major 0x%04X minor 0x%04X",
				   pair_major(point), pair_minor(point));
		TEXT_ADD(line, ": ");
		end = line->used;
		arguments_put(output, event, scratch, NULL, line);
		line->used -= line->used == end ? 2 : 0;
		tree_flags(&of, line);
		TEXT_ADD(line, "\n");
		return line_give(tree, thread, text);
	}
	matched = seen.role == PAIR_POST_MATCHED;
	line = &tree->line;
	if (matched && thread->waiting.number &&
	    thread->waiting.number == seen.call.number)
		return tree_leaf(&of, thread, text);
	code = waiting_open(tree, thread, text);
	if (code)
		return code;
	tree_time(line, &scratch->clock, event->time);
	if (matched)
		latency_column(line, seen.latency);
	else
		text_add_blanks(line, LATENCY_WIDTH);
	indent_put(line, seen.depth);
	text_add_string(line, matched ? "}" : "<no PRE>");
	outcome_put(&of, line);
	TEXT_ADD(line, "  ");
	text_add_string(line, output_desc(output, seen.name));
	TEXT_ADD(line, "\n");
	return line_give(tree, thread, text);
}

/* ---- */

static bool stream_is_live(const struct stream *stream)
{
	for (size_t i = 0; i < stream->count; i++)
		if (stream->traces[i]->file.source.pipe)
			return true;
	return false;
}

static int tree_open(struct output *output, struct text *text,
		     struct error *err)
{
	struct tree_output *tree = output->own;

	tree->spill.fd = -1;
	tree->live = stream_is_live(output->stream);
	tree->pairing = pairing_open();
	return !tree->pairing || text_open(&tree->line, -1) ? -ENOMEM : 0;
}

static int tree_close(struct output *output, struct text *text,
		      struct error *err)
{
	struct tree_output *tree = output->own;
	const struct pair_call *call;
	int code = 0;

	while (!code && (call = pairing_open_call(tree->pairing)))
		code = tree_unmatched(output, call, "no POST up to the end",
				      text);
	for (size_t i = 0; i < tree->count && !tree->live && !code; i++) {
		struct tree_thread *thread = tree->threads[i];

		text_print(text, "%s%s", i ? "\n" : "", thread->title);
		code = spill_take(&tree->spill, &thread->lines, text);
	}
	return code;
}

static void tree_free(struct output *output)
{
	struct tree_output *tree = output->own;

	for (size_t i = 0; i < tree->count; i++) {
		spill_text_free(&tree->threads[i]->lines);
		free(tree->threads[i]->waiting.line);
		free(tree->threads[i]->title);
		free(tree->threads[i]);
	}
	free(tree->threads);
	key_map_free(&tree->by_id);
	if (tree->spill.fd >= 0)
		close(tree->spill.fd);
	pairing_close(tree->pairing);
	free(tree->line.data);
}

const struct output_ops output_tree = {
	.name = "tree",
	.own_bytes = sizeof(struct tree_output),
	.in_order = true,
	.whole = true,
	.open = tree_open,
	.event = tree_event,
	.close = tree_close,
	.free = tree_free,
};

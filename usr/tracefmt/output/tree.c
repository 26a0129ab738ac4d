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
 * Of files thread after thread, of a pipe as the records come. The line of a PRE
 * waits until it is known how it ends, or whether a call inside of it is chosen.
 * "?" instead of a latency marks doubt; of a file, a later record may remove it.
 *
 * --format=line: the same in the order of time, with the thread in each line, and
 * latencies from --slow on:
 *
 *	 0.000000000 app:70              1.203 us  (OS) DosSleep(n = 5) = 0
 *	 0.000002000 app:70                        (OS) DosOpen(name = "x") {
 *
 * A call is on one line if its thread has no other event in it, and nothing
 * follows late: then the line is printed open, because a person is watching.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/key_map.h"
#include "lib/read/read.h"
#include "tracefmt/pair/figures.h"
#include "cell.h"
#include "spill.h"

/* ---- threads and lines ---- */

#define TIME_WIDTH	18
#define SINCE_WIDTH	14		/* seconds, of --format=line */
#define THREAD_WIDTH	16		/* its name and id there */
#define HOST_MAX	(4 * 72)
#define THREAD_MAX	(HOST_MAX + 4 * 16 + 16)
#define LATENCY_WIDTH	12
#define INDENT_MAX	40	/* levels; deeper ones have their number */
#define NOT_TOLD	(EVENT_FAULT | EVENT_CUT | EVENT_PAGED_IN | \
			 EVENT_TAIL_CALL)	/* in their places */

/* The line of a PRE, as long as nothing of the thread that is given out follows
 * it. */
struct waiting {
	uint64_t order;		/* of the call; they ascend */
	char *line;		/* NULL: it is not wanted any more */
	size_t length, latency_at;
	size_t below;		/* bytes after the line: of those below it */
};

struct tree_thread {
	uint64_t buffer;	/* key of its trace's buffer */
	uint32_t pid, tid;
	char *title;
	char name[THREAD_MAX];	/* as_lines: as of its last event */
	struct waiting *waiting;	/* from the outermost call on */
	size_t waiting_count, waiting_room;
	struct spill_text lines;
};

struct tree_output {
	struct pairing *pairing;
	struct key_map by_id;		/* thread, by tree_thread_hash() */
	struct tree_thread **threads;	/* in the order of their first events */
	size_t count, room;
	struct spill spill;
	struct spill_text together;	/* of --format=line: all lines */
	struct text line;
	struct text below;		/* as_lines: what follows the line */
	bool live;			/* of a pipe */
	bool as_lines;			/* --format=line */
	bool waits;			/* as_lines: a line may wait */
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

#define BOLD	"1"	/* SGR of a terminal */
#define DIM	"2"
#define GREEN	"32"
#define YELLOW	"33"
#define PLAIN	""

static void colour_put(const struct output *output, const char *colour,
		       struct text *line)
{
	if (output->settings->colour)
		text_print(line, "\033[%sm", colour);
}

/* "    +0.000002000 app:70         " of --format=line; event: NULL, no time. */
static void since_put(const struct output *output,
		      const struct tree_thread *thread,
		      const struct event *event, struct clock clock,
		      struct text *line)
{
	char word[CLOCK_MAX];

	clock.relative = !output->settings->utc;
	colour_put(output, DIM, line);
	tree_column(line, word, event ? clock_put(&clock, event->time, word) -
		    word : 0, SINCE_WIDTH);
	colour_put(output, PLAIN, line);
	TEXT_ADD(line, " ");
	colour_put(output, GREEN, line);
	text_add_string(line, thread->name);
	colour_put(output, PLAIN, line);
	if (strlen(thread->name) < THREAD_WIDTH)
		text_add_blanks(line, THREAD_WIDTH - strlen(thread->name));
	colour_put(output, YELLOW, line);
}

static void tree_time(const struct shown *of, const struct tree_thread *thread,
		      struct text *line)
{
	const struct tree_output *tree = of->output->own;
	struct clock *clock = &of->scratch->clock;
	char word[CLOCK_MAX];

	if (tree->as_lines) {
		since_put(of->output, thread, of->event, *clock, line);
		return;
	}
	tree_column(line, word, clock_put(clock, of->event->time, word) - word,
		    TIME_WIDTH);
	TEXT_ADD(line, " ");
}

/* Of a call with a POST. */
static void latency_column(const struct output *output, int64_t ns,
			   enum pair_doubt doubt, struct text *line)
{
	const struct tree_output *tree = output->own;
	char word[TEXT_DURATION] = "?";
	bool shown = !tree->as_lines || doubt != PAIR_SURE ||
		     (uint64_t)ns >= output->settings->slow;

	tree_column(line, word, doubt == PAIR_SURE && shown ?
		    text_put_duration(word, ns) - word : shown, LATENCY_WIDTH);
}

/* After the latency. */
static void indent_put(const struct output *output, uint32_t depth,
		       struct text *line)
{
	const struct tree_output *tree = output->own;

	if (tree->as_lines) {
		colour_put(output, PLAIN, line);
		TEXT_ADD(line, "  ");
	} else {
		TEXT_ADD(line, " | ");
	}
	text_add_blanks(line, 2 * (depth < INDENT_MAX ? depth : INDENT_MAX));
	if (depth > INDENT_MAX)
		text_print(line, "<%u> ", depth);
}

/* Of --format=line: what --context recorded, on lines of its own. */
static void context_lines_add(const struct shown *of)
{
	const struct event *event = of->event;
	struct context context = context_of(event->record,
					    event->point->context);
	struct tree_output *tree = of->output->own;
	struct text *text = &tree->below;

	/* a whole call's was taken at its end */
	if (!tree->as_lines || !context.mask ||
	    event->point->half == MATCH_ENTRY ||
	    text_reserve(text, context_room(&context)))
		return;
	text->used = context_put(&context, output_render_input(event,
				 of->output->settings->symbols).owner,
				 text->data + text->used) - text->data;
}

/* Its name, without that of the only module. */
static void function_put(const struct output *output, const char *name,
			 struct text *line)
{
	colour_put(output, BOLD, line);
	text_add_string(line, output_desc(output, name));
	colour_put(output, PLAIN, line);
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
	char date[32], name[4 * 16 + 1] = "", host[HOST_MAX + 1] = "";
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

/* "app:70", of several traces "host/app:70" */
static void thread_name_set(struct tree_thread *thread,
			    const struct output *output,
			    const struct event *event)
{
	const char *comm = event_thread_comm(event);
	const char *host = event->trace->file.host;
	char *p = thread->name;

	if (output->stream->count > 1 && *host) {
		p = text_put_safe(p, host, strlen(host));
		*p++ = '/';
	}
	if (comm) {
		p = text_put_safe(p, comm, strnlen(comm, 16));
		*p++ = ':';
	}
	*text_put_decimal(p, event->record->tid) = '\0';
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

/* Those of a file that the thread's lines are among. */
static struct spill_text *lines_of(struct tree_output *tree,
				   struct tree_thread *thread)
{
	return tree->as_lines ? &tree->together : &thread->lines;
}

/* The line is the thread's; where it goes. 0, or a negative errno. */
static int line_give(struct tree_output *tree, struct tree_thread *thread,
		     struct text *text)
{
	struct text *line = &tree->line;
	int code;

	text_add(line, tree->below.data, tree->below.used);
	code = tree->below.error ? -tree->below.error : -line->error;
	if (!code && !tree->live) {
		code = spill_add(&tree->spill, lines_of(tree, thread),
				 line->data, line->used);
	} else if (!code) {
		if (tree->last && tree->last != thread && !tree->as_lines)
			TEXT_ADD(text, "\n");
		if (tree->last != thread && !tree->as_lines)
			text_add_string(text, thread->title);
		tree->last = thread;
		text_add(text, line->data, line->used);
		code = -text->error;
	}
	line->used = tree->below.used = 0;
	return code;
}

static int line_wait(struct tree_output *tree, struct tree_thread *thread,
		     size_t latency_at, uint64_t order)
{
	struct text *line = &tree->line;
	struct waiting *w;

	if (line->error || !array_grow(&thread->waiting, thread->waiting_count,
				       &thread->waiting_room, sizeof(*w)))
		return -ENOMEM;
	w = &thread->waiting[thread->waiting_count];
	tree->waits = true;
	*w = (struct waiting){
		.length = line->used, .latency_at = latency_at,
		.order = order, .below = tree->below.used,
	};
	text_add(line, tree->below.data, tree->below.used);
	w->line = line->error || tree->below.error ? NULL :
		  malloc(line->used);
	if (!w->line)
		return -ENOMEM;
	thread->waiting_count++;
	memcpy(w->line, line->data, line->used);
	line->used = tree->below.used = 0;
	return 0;
}

/* The line that waits becomes the line, and doesn't wait any more. */
static int waiting_take(struct tree_output *tree, struct waiting *w)
{
	if (text_reserve(&tree->line, w->length))
		return -ENOMEM;
	memcpy(tree->line.data, w->line, w->length);
	tree->line.used = w->length;
	text_add(&tree->below, w->line + w->length, w->below);
	free(w->line);
	w->line = NULL;
	return 0;
}

/* The call's line; NULL: it was given. */
static struct waiting *waiting_find(const struct tree_thread *thread,
				    const struct pair_call *call)
{
	size_t n = array_count_upto(thread->waiting, thread->waiting_count,
				    sizeof(*thread->waiting), call->order);

	return n && thread->waiting[n - 1].order == call->order ?
	       &thread->waiting[n - 1] : NULL;
}

static void waiting_drop(struct tree_thread *thread, struct waiting *w)
{
	free(w->line);
	w->line = NULL;
	while (thread->waiting_count &&
	       !thread->waiting[thread->waiting_count - 1].line)
		thread->waiting_count--;
}

/* It and those before it were given. */
static void waiting_pass(struct tree_thread *thread, const struct waiting *w)
{
	size_t n = w + 1 - thread->waiting;

	thread->waiting_count -= n;
	memmove(thread->waiting, w + 1,
		thread->waiting_count * sizeof(*thread->waiting));
}

/* Give what waits, all of it or before the line `end`: the calls go on. */
static int waiting_open(struct tree_output *tree, struct tree_thread *thread,
			const struct waiting *end, struct text *text)
{
	struct waiting *w = thread->waiting;
	int code = 0;

	for (size_t n = end ? (size_t)(end - w) : thread->waiting_count;
	     n && !code; n--, w++) {
		if (!w->line)
			continue;
		code = waiting_take(tree, w);
		TEXT_ADD(&tree->line, " {\n");
		if (!code)
			code = line_give(tree, thread, text);
	}
	if (!end)
		thread->waiting_count = 0;
	return code;
}

/* ---- events ---- */

static int pre_add(const struct shown *of, struct tree_thread *thread,
		   struct text *text)
{
	struct tree_output *tree = of->output->own;
	bool chosen = of->output->choice.context;
	struct text *line = &tree->line;
	int code = chosen ? 0 : waiting_open(tree, thread, NULL, text);
	size_t latency_at;

	if (code)
		return code;
	tree_time(of, thread, line);
	latency_at = line->used;
	text_add_blanks(line, LATENCY_WIDTH);
	indent_put(of->output, of->seen->depth, line);
	function_put(of->output, of->seen->name, line);
	TEXT_ADD(line, "(");
	arguments_put(of->output, of->event, of->scratch, NULL, line);
	TEXT_ADD(line, ")");
	tree_flags(of, line);
	context_lines_add(of);
	if (!tree->live || chosen || tree->as_lines)
		return line_wait(tree, thread, latency_at,
				 of->seen->call.order);
	TEXT_ADD(line, " {\n");
	return line_give(tree, thread, text);
}

/* Give the line of a POST, whose latency is there; a later record may decide
 * it. */
static int post_give(const struct shown *of, struct tree_thread *thread,
		     size_t latency_at, struct text *text)
{
	struct tree_output *tree = of->output->own;

	if (of->seen->doubt == PAIR_PENDING && !tree->live)
		of->seen->kept->own = lines_of(tree, thread)->length +
				      latency_at;
	return line_give(tree, thread, text);
}

/* The call and its POST on one line, which follows others that wait. */
static int tree_leaf(const struct shown *of, struct tree_thread *thread,
		     struct waiting *w, struct text *text)
{
	struct tree_output *tree = of->output->own;
	size_t latency_at = w->latency_at, end;
	struct text *line = &tree->line;
	int code = waiting_open(tree, thread, w, text);

	if (!code)
		code = waiting_take(tree, w);
	if (code)
		return code;
	waiting_pass(thread, w);
	end = line->used;
	latency_column(of->output, of->seen->latency, of->seen->doubt, line);
	if (!line->error)
		memcpy(line->data + latency_at, line->data + end,
		       LATENCY_WIDTH);
	line->used = end;
	outcome_put(of, line);
	context_lines_add(of);
	TEXT_ADD(line, "\n");
	return post_give(of, thread, latency_at, text);
}

/* 1: yes; 0: no; -ENOMEM. */
static int tree_chooses(const struct output *output,
			const struct pair_call *call)
{
	return output->choice.context ?
	       output->choice.call(output->choice.context, call) : 1;
}

/* The call has no POST. */
static int tree_unmatched(const struct output *output,
			  const struct pair_call *call, struct text *text)
{
	static const char *const notes[PAIR_DOUBTS] = {
		[PAIR_NO_POST] = "no POST",
		[PAIR_OPEN] = "no POST up to the end",
		[PAIR_GIVEN_UP] = "too many open calls",
	};
	struct tree_output *tree = output->own;
	struct tree_thread *thread = tree_thread_find(
		tree, call->entry.trace->file.header.key, call->pid, call->tid);
	const char *note = notes[call->doubt];
	struct waiting *w;
	int code = 1;

	if (!thread)
		return 0;
	w = waiting_find(thread, call);
	if (w)
		code = tree_chooses(output, call);
	if (code < 0)
		return code;
	if (!code) {
		waiting_drop(thread, w);
		return 0;
	}
	code = waiting_open(tree, thread, w, text);
	if (code)
		return code;
	if (w) {
		code = waiting_take(tree, w);
		waiting_pass(thread, w);
		if (code)
			return code;
		text_print(&tree->line, " <%s>\n", note);
		return line_give(tree, thread, text);
	}
	if (tree->as_lines)
		since_put(output, thread, NULL, (struct clock){ 0 },
			  &tree->line);
	text_add_blanks(&tree->line, LATENCY_WIDTH +
			(tree->as_lines ? 0 : TIME_WIDTH + 1));
	indent_put(output, call->depth, &tree->line);
	text_print(&tree->line, "} <%s>  ", note);
	function_put(output, call->name, &tree->line);
	TEXT_ADD(&tree->line, "\n");
	return line_give(tree, thread, text);
}

/* A call that has ended, or whose doubt has. */
static int tree_ended(const struct output *output, const struct pair_call *call,
		      struct text *text)
{
	struct tree_output *tree = output->own;
	char word[LATENCY_WIDTH + TEXT_DURATION];
	struct tree_thread *thread;

	if (call->doubt >= PAIR_NO_POST && call->doubt != PAIR_NO_PRE)
		return tree_unmatched(output, call, text);
	if (call->doubt != PAIR_SURE || !call->own)
		return 0;
	thread = tree_thread_find(tree, call->entry.trace->file.header.key,
				  call->pid, call->tid);
	latency_column(output, call->latency, PAIR_SURE, &tree->line);
	if (tree->line.error)
		return -tree->line.error;
	memcpy(word, tree->line.data, LATENCY_WIDTH);
	tree->line.used = 0;
	return spill_patch(&tree->spill, lines_of(tree, thread), call->own,
			   word, LATENCY_WIDTH);
}

/* DESC without the line end */
static void title_add(const struct output *output,
		      const struct match_point *point, struct text *line)
{
	const char *bare = output_desc(output, point->title);

	text_add(line, bare,
		 point->title_length - 1 - (bare - point->title));
}

/* An event that is neither PRE nor POST. */
static int plain_add(const struct shown *of, struct tree_thread *thread,
		     struct text *text)
{
	const struct output *output = of->output;
	const struct match_point *point = of->event->point;
	struct tree_output *tree = output->own;
	struct text *line = &tree->line;
	int code = waiting_open(tree, thread, NULL, text);
	size_t end;

	if (code)
		return code;
	tree_time(of, thread, line);
	text_add_blanks(line, LATENCY_WIDTH);
	indent_put(output, of->seen->depth, line);
	colour_put(output, BOLD, line);
	if (point->formatted)
		title_add(output, point, line);
	else
		text_print(line, "major 0x%04X minor 0x%04X",
			   pair_major(point), pair_minor(point));
	colour_put(output, PLAIN, line);
	TEXT_ADD(line, ": ");
	end = line->used;
	arguments_put(output, of->event, of->scratch, NULL, line);
	line->used -= line->used == end ? 2 : 0;
	tree_flags(of, line);
	TEXT_ADD(line, "\n");
	context_lines_add(of);
	return line_give(tree, thread, text);
}

static int post_add(const struct shown *of, struct tree_thread *thread,
		    struct text *text)
{
	const struct pair_seen *seen = of->seen;
	struct tree_output *tree = of->output->own;
	bool alone = seen->role == PAIR_POST_ALONE;
	struct waiting *w = alone ? NULL : waiting_find(thread, &seen->call);
	struct text *line = &tree->line;
	size_t latency_at;
	int code = 1;

	if (w || alone)
		code = tree_chooses(of->output, alone ? seen->ended[0] :
				    &seen->call);
	if (code < 0)
		return code;
	if (!code) {
		if (w)
			waiting_drop(thread, w);
		return 0;
	}
	if (w && w == &thread->waiting[thread->waiting_count - 1])
		return tree_leaf(of, thread, w, text);
	code = waiting_open(tree, thread, NULL, text);
	if (code)
		return code;
	tree_time(of, thread, line);
	latency_at = line->used;
	if (alone)
		text_add_blanks(line, LATENCY_WIDTH);
	else
		latency_column(of->output, seen->latency, seen->doubt, line);
	indent_put(of->output, seen->depth, line);
	text_add_string(line, alone ? "<no PRE>" : "}");
	outcome_put(of, line);
	TEXT_ADD(line, "  ");
	function_put(of->output, seen->name, line);
	TEXT_ADD(line, "\n");
	context_lines_add(of);
	return post_give(of, thread, latency_at, text);
}

static int tree_event(struct output *output, const struct event *event,
		      struct text *text, struct scratch *scratch)
{
	struct tree_output *tree = output->own;
	struct tree_thread *thread = thread_of(output, event);
	const struct output_choice *choice = &output->choice;
	struct pair_seen seen;
	struct shown of = { output, event, &seen, scratch };
	int code = 0;

	if (!thread || pairing_see(tree->pairing, event, &seen) ||
	    output_decode(event, scratch, NULL))
		return -ENOMEM;
	if (tree->as_lines)
		thread_name_set(thread, output, event);
	for (size_t i = 0; i < seen.ended_count && !code; i++)
		code = tree_ended(output, seen.ended[i], text);
	if (code)
		return code;
	if (seen.role == PAIR_PRE)
		return pre_add(&of, thread, text);
	if (seen.role != PAIR_PLAIN)
		return post_add(&of, thread, text);
	code = choice->context ? choice->event(choice->context, event) : 1;
	return code > 0 ? plain_add(&of, thread, text) : code;
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

	tree->as_lines = output->ops == &output_line;
	tree->spill.fd = -1;
	tree->live = stream_is_live(output->stream);
	tree->pairing = pairing_open(
		output->pairing_wanted | (output->choice.context ?
		PAIRING_ENTRIES | PAIRING_EXITS : 0), output->foresight);
	return !tree->pairing || text_open(&tree->line, -1) ? -ENOMEM : 0;
}

/* Nothing follows for now: calls that have begun are printed. */
static int line_flush(struct output *output, struct text *text)
{
	struct tree_output *tree = output->own;
	int code = 0;

	if (!tree->live || !tree->waits || output->choice.context)
		return 0;
	for (size_t i = 0; i < tree->count && !code; i++)
		code = waiting_open(tree, tree->threads[i], NULL, text);
	tree->waits = false;
	return code;
}

static int tree_close(struct output *output, struct text *text,
		      struct error *err)
{
	struct tree_output *tree = output->own;
	const struct pair_call *call;
	const char *between = "";
	int code = 0;

	while (!code && (call = pairing_open_call(tree->pairing)))
		code = tree_ended(output, call, text);
	if (tree->as_lines && !code)
		code = spill_take(&tree->spill, &tree->together, text);
	for (size_t i = 0; i < tree->count && !tree->live && !code; i++) {
		struct tree_thread *thread = tree->threads[i];

		if (!thread->lines.length)
			continue;
		text_print(text, "%s%s", between, thread->title);
		between = "\n";
		code = spill_take(&tree->spill, &thread->lines, text);
	}
	return code;
}

static void tree_free(struct output *output)
{
	struct tree_output *tree = output->own;

	for (size_t i = 0; i < tree->count; i++) {
		spill_text_free(&tree->threads[i]->lines);
		for (size_t k = 0; k < tree->threads[i]->waiting_count; k++)
			free(tree->threads[i]->waiting[k].line);
		free(tree->threads[i]->waiting);
		free(tree->threads[i]->title);
		free(tree->threads[i]);
	}
	spill_text_free(&tree->together);
	free(tree->threads);
	key_map_free(&tree->by_id);
	if (tree->spill.fd >= 0)
		close(tree->spill.fd);
	pairing_close(tree->pairing);
	free(tree->line.data);
	free(tree->below.data);
}

const struct output_ops output_tree = {
	.name = "tree",
	.own_bytes = sizeof(struct tree_output),
	.in_order = true,
	.whole = true,
	.unfolds = true,
	.calls = true,
	.open = tree_open,
	.event = tree_event,
	.close = tree_close,
	.free = tree_free,
};

const struct output_ops output_line = {
	.name = "line",
	.own_bytes = sizeof(struct tree_output),
	.in_order = true,
	.whole = true,
	.unfolds = true,
	.calls = true,
	.open = tree_open,
	.event = tree_event,
	.flush = line_flush,
	.close = tree_close,
	.free = tree_free,
};

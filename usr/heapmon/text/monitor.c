// SPDX-License-Identifier: GPL-2.0
/*
 * The heap monitoring text: a heading, then a line per event.
 *
 *	Thread      Time of event       Address     Size    Type  Stack crawl
 *	2-22982     759537687555872     0xb2362718  del     TIt   TAr::~TAr()|f()
 *
 * Thread: process and thread, 0-0 of an old block; time: microseconds since
 * 1970, or `old`; size: bytes, or `del`; type: a class, `novtbl` or `notype`;
 * crawl: the callers, the innermost first. Lines of `***` report that the heap
 * is corrupt; from there on lines begin with `*`. heapmon reports in this form
 * that events are missing: "*** 12 events lost".
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/text.h"
#include "heapmon/core/format.h"

#define MONITOR_LOSS	"events lost"
#define BAD_LINES_MOST	10	/* lines that are reported one by one */

/* The columns' widths with a blank, as those of the original. */
#define THREAD		12
#define TIME		20
#define ADDRESS		12
#define ADDRESS_WIDE	16	/* of 64 bits */
#define SIZE		8
#define TYPE		16

enum monitor_kind {
	MONITOR_EVENT,
	MONITOR_NOTHING,	/* the heading, or an empty line */
	MONITOR_LOST,		/* `lost` events, or UNKNOWN */
	MONITOR_BANNER,		/* `text` is what it says */
	MONITOR_BAD,
};

/* Text without a NUL at its end. */
struct monitor_span {
	const char *text;
	size_t length;
};

struct monitor_line {
	enum monitor_kind kind;
	uint32_t pid, tid;
	bool old, deleted;
	bool corrupt;		/* it begins with `*` */
	int64_t time;		/* ns */
	uint64_t address, size, lost;
	struct monitor_span type, crawl, text;
};

/* ---- spans ---- */

static bool monitor_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The first `length` bytes. */
static struct monitor_span span_take(struct monitor_span *rest, size_t length)
{
	struct monitor_span span = { rest->text, length };

	rest->text += length;
	rest->length -= length;
	return span;
}

static void blanks_skip(struct monitor_span *rest)
{
	while (rest->length && monitor_is_blank(*rest->text))
		span_take(rest, 1);
}

static struct monitor_span word_take(struct monitor_span *rest)
{
	size_t length = 0;

	blanks_skip(rest);
	while (length < rest->length && !monitor_is_blank(rest->text[length]))
		length++;
	return span_take(rest, length);
}

/* The next line, without its end; false: there are no more. */
static bool monitor_line_take(struct monitor_span *rest,
			      struct monitor_span *line)
{
	const char *stop = rest->length ?
		memchr(rest->text, '\n', rest->length) : NULL;

	if (!rest->length)
		return false;
	*line = span_take(rest, stop ? (size_t)(stop - rest->text) :
				       rest->length);
	if (stop)
		span_take(rest, 1);
	return true;
}

static bool span_is(struct monitor_span span, const char *text)
{
	return span.length == strlen(text) &&
	       !memcmp(span.text, text, span.length);
}

/* All of it as a number up to `most`. */
static bool span_number(struct monitor_span span, unsigned int base,
			uint64_t most, uint64_t *number)
{
	uint64_t value = 0;

	for (size_t i = 0; i < span.length; i++) {
		char c = span.text[i];
		unsigned int digit = c >= '0' && c <= '9' ? c - '0' :
			c >= 'a' && c <= 'f' ? c - 'a' + 10 :
			c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;

		if (digit >= base || value > (most - digit) / base)
			return false;
		value = value * base + digit;
	}
	*number = value;
	return span.length;
}

/* ---- lines ---- */

static bool thread_parse(struct monitor_span word, struct monitor_line *line)
{
	const char *dash = memchr(word.text, '-', word.length);
	uint64_t pid, tid;

	if (!dash || !span_number(span_take(&word, dash - word.text), 10,
				  UINT32_MAX, &pid))
		return false;
	span_take(&word, 1);
	if (!span_number(word, 10, UINT32_MAX, &tid))
		return false;
	line->pid = pid;
	line->tid = tid;
	return true;
}

static bool time_parse(struct monitor_span word, struct monitor_line *line)
{
	uint64_t time;

	line->old = span_is(word, "old");
	line->time = HEAP_NO_TIME;
	if (line->old)
		return true;
	if (!span_number(word, 10, INT64_MAX / 1000, &time))
		return false;
	line->time = time * 1000;
	return true;
}

static bool address_parse(struct monitor_span word, uint64_t *address)
{
	if (word.length < 3 || word.text[0] != '0' ||
	    (word.text[1] != 'x' && word.text[1] != 'X'))
		return false;
	span_take(&word, 2);
	return span_number(word, 16, UINT64_MAX, address);
}

static bool size_parse(struct monitor_span word, struct monitor_line *line)
{
	line->deleted = span_is(word, "del");
	return line->deleted ? !line->old :
			       span_number(word, 10, UINT64_MAX, &line->size);
}

/* A word; or more of them: the parameters of a template may have blanks. */
static struct monitor_span monitor_type_take(struct monitor_span *rest)
{
	struct monitor_span all, word;
	size_t length = 0, depth = 0;

	blanks_skip(rest);
	all = *rest;
	word = word_take(rest);
	for (; length < all.length; length++) {
		char c = all.text[length];

		if (monitor_is_blank(c) && !depth)
			break;
		if (c && strchr("<({[", c))
			depth++;
		else if (c && depth && strchr(">)}]", c))
			depth--;
	}
	if (depth || length <= word.length)
		return word;
	*rest = all;
	return span_take(rest, length);
}

static bool event_parse(struct monitor_span rest, struct monitor_line *line)
{
	if (!thread_parse(word_take(&rest), line) ||
	    !time_parse(word_take(&rest), line) ||
	    !address_parse(word_take(&rest), &line->address) ||
	    !size_parse(word_take(&rest), line))
		return false;
	line->type = monitor_type_take(&rest);
	blanks_skip(&rest);
	line->crawl = rest;
	return line->type.length;
}

/* What is written between the stars. */
static void banner_parse(struct monitor_span rest, struct monitor_line *line)
{
	struct monitor_span word = word_take(&rest);

	blanks_skip(&rest);
	line->kind = MONITOR_LOST;
	if (span_is(rest, MONITOR_LOSS) && span_is(word, "some"))
		line->lost = HEAP_LOST_UNKNOWN;
	else if (!span_is(rest, MONITOR_LOSS) ||
		 !span_number(word, 10, UINT64_MAX - 1, &line->lost))
		line->kind = line->text.length ? MONITOR_BANNER :
						 MONITOR_NOTHING;
}

static bool is_heading(struct monitor_span rest)
{
	return span_is(word_take(&rest), "Thread") &&
	       span_is(word_take(&rest), "Time");
}

/* Understand a line, given without its end. */
static struct monitor_line line_parse(struct monitor_span rest)
{
	struct monitor_line line = { .kind = MONITOR_BAD };

	while (rest.length && monitor_is_blank(rest.text[rest.length - 1]))
		rest.length--;
	blanks_skip(&rest);
	for (; rest.length && *rest.text == '*'; span_take(&rest, 1))
		line.corrupt = true;
	blanks_skip(&rest);
	line.text = rest;
	if (event_parse(rest, &line))
		line.kind = MONITOR_EVENT;
	else if (line.corrupt)
		banner_parse(rest, &line);
	else if (!rest.length || is_heading(rest))
		line.kind = MONITOR_NOTHING;
	return line;
}

/* ---- stack crawls ---- */

/* The names in a stack crawl, one after the other. */
struct monitor_crawl {
	const char *at, *end;
	bool plain;		/* parentheses don't match: bars separate */
};

/* Does the name so far end in the word `operator`? */
static bool after_operator(const char *begin, const char *at)
{
	const size_t length = strlen("operator");

	return at >= begin + length &&
	       !memcmp(at - length, "operator", length) &&
	       (at == begin + length ||
		!(isalnum((unsigned char)at[-(int)length - 1]) ||
		  at[-(int)length - 1] == '_'));
}

static const char *name_end(const struct monitor_crawl *crawl, size_t *depth)
{
	const char *at = crawl->at;

	*depth = 0;
	while (at < crawl->end) {
		if (*at == '|' && after_operator(crawl->at, at)) {
			/* operator|, operator|=, or operator||, which is known
			 * from a separator by its parameters */
			at += crawl->end - at > 2 && at[1] == '|' &&
			      (at[2] == '(' || at[2] == '<') ? 2 : 1;
			continue;
		}
		if (*at == '|' && (!*depth || crawl->plain))
			break;
		if (*at == '(')
			++*depth;
		else if (*at == ')' && *depth)
			--*depth;
		at++;
	}
	return at;
}

static bool crawl_next(struct monitor_crawl *crawl, struct monitor_span *name)
{
	const char *end;
	size_t depth;

	if (crawl->at == crawl->end)
		return false;
	end = name_end(crawl, &depth);
	if (end == crawl->end && depth && !crawl->plain) {
		crawl->plain = true;
		end = name_end(crawl, &depth);
	}
	*name = (struct monitor_span){ crawl->at, end - crawl->at };
	while (name->length && *name->text == ' ')
		span_take(name, 1);
	while (name->length && name->text[name->length - 1] == ' ')
		name->length--;
	crawl->at = end < crawl->end ? end + 1 : end;
	return true;
}

/* ---- reading ---- */

struct monitor_reader {
	struct heap_input *input;
	const struct heap_sink *sink;
	uint32_t pid;			/* of old blocks */
	struct heap_strings crawls;
	uint32_t *stacks;		/* by their numbers there */
	size_t stack_count, stack_room;
	struct monitor_span *names;	/* of the crawl at hand */
	size_t name_room;
	uint64_t lines, good, bad;
	bool cut;			/* in its last line */
};

static uint32_t name_frame(struct heap_trace *trace, struct monitor_span name)
{
	static const char stopped[] = "(stopped";
	struct heap_frame frame = { 0 };

	if (name.length < 3 || name.length >= 20 || name.text[1] != 'x' ||
	    !address_parse(name, &frame.address))
		frame.symbol = heap_strings_add_length(&trace->strings,
						       name.text, name.length);
	frame.stopped = name.length > sizeof(stopped) &&
			!memcmp(name.text, stopped, sizeof(stopped) - 1);
	return heap_trace_frame(trace, &frame);
}

static uint32_t crawl_stack(struct monitor_reader *reader,
			    struct monitor_span text)
{
	struct monitor_crawl crawl = { text.text, text.text + text.length };
	struct heap_trace *trace = reader->input->trace;
	struct monitor_span name;
	uint32_t stack = 0;
	size_t count = 0;

	while (crawl_next(&crawl, &name)) {
		if (!name.length)
			continue;
		if (!array_grow(&reader->names, count, &reader->name_room,
				sizeof(name))) {
			trace->failed = true;
			return 0;
		}
		reader->names[count++] = name;
	}
	while (count)
		stack = heap_trace_stack(trace, stack, name_frame(
					 trace, reader->names[--count]));
	return stack;
}

/* Each crawl is taken apart once. */
static uint32_t reader_stack(struct monitor_reader *reader,
			     struct monitor_span crawl)
{
	uint32_t number;

	if (!crawl.length)
		return 0;
	number = heap_strings_add_length(&reader->crawls, crawl.text,
					 crawl.length);
	if (!number || !array_extend(&reader->stacks, &reader->stack_count,
				     &reader->stack_room,
				     sizeof(*reader->stacks), number)) {
		reader->input->trace->failed = true;
		return 0;
	}
	if (!reader->stacks[number])
		reader->stacks[number] = crawl_stack(reader, crawl);
	return reader->stacks[number];
}

static int read_event(struct monitor_reader *reader,
		      const struct monitor_line *line, struct error *err)
{
	struct heap_event event = {
		.kind = line->old ? HEAP_OLD :
			line->deleted ? HEAP_FREE : HEAP_ALLOC,
		.pid = line->old && !line->pid ? reader->pid : line->pid,
		.tid = line->tid, .time = line->time,
		.address = line->address, .size = line->size,
		.stack = reader_stack(reader, line->crawl),
	};

	if (line->old || line->deleted)
		event.type_kind =
			span_is(line->type, "novtbl") ? HEAP_TYPE_NO_TABLE :
			span_is(line->type, "notype") ? HEAP_TYPE_OTHER :
							HEAP_TYPE_NAMED;
	if (event.type_kind == HEAP_TYPE_NAMED)
		event.type = heap_strings_add_length(
			&reader->input->trace->strings, line->type.text,
			line->type.length);
	reader->good++;
	return heap_sink_take(reader->sink, &event, err);
}

static int read_loss(struct monitor_reader *reader,
		     const struct monitor_line *line, struct error *err)
{
	const struct heap_event event = {
		.kind = HEAP_LOSS, .time = HEAP_NO_TIME, .lost = line->lost,
	};
	uint64_t *lost = &reader->input->trace->lost;

	reader->good++;
	*lost = *lost > HEAP_LOST_UNKNOWN - line->lost ? HEAP_LOST_UNKNOWN :
							 *lost + line->lost;
	return heap_sink_take(reader->sink, &event, err);
}

static int read_line(struct monitor_reader *reader, struct monitor_span text,
		     struct error *err)
{
	struct monitor_line line = line_parse(text);

	reader->lines++;
	switch (line.kind) {
	case MONITOR_EVENT:
		return read_event(reader, &line, err);
	case MONITOR_LOST:
		return read_loss(reader, &line, err);
	case MONITOR_BANNER:
		heap_input_warn(reader->input, "line %" PRIu64 " says: %.*s",
				reader->lines, line.text.length > 200 ?
				200 : (int)line.text.length, line.text.text);
		return 0;
	case MONITOR_NOTHING:
		return 0;
	case MONITOR_BAD:
		break;
	}
	if (++reader->bad <= BAD_LINES_MOST)
		heap_input_warn(reader->input, "line %" PRIu64 " is no event",
				reader->lines);
	return 0;
}

static struct monitor_span input_text(const uint8_t *data, size_t size)
{
	return (struct monitor_span){ (const char *)data, size };
}

/* Old blocks are those of the process that the file is of: the first one that
 * does anything. */
static uint32_t first_pid(struct monitor_span rest)
{
	struct monitor_span text;
	struct monitor_line line;

	while (monitor_line_take(&rest, &text)) {
		line = line_parse(text);
		if (line.kind == MONITOR_EVENT && line.pid)
			return line.pid;
	}
	return 0;
}

static int read_lines(struct monitor_reader *reader, struct error *err)
{
	struct heap_input *input = reader->input;
	struct monitor_span rest = input_text(input->data, input->size), text;
	int code = 0;

	reader->pid = first_pid(rest);
	while (!code && monitor_line_take(&rest, &text)) {
		if (!rest.length && rest.text[-1] != '\n') {
			heap_input_warn(input, "the last line has no end");
			reader->cut = true;
		}
		code = read_line(reader, text, err);
	}
	return code;
}

static int monitor_read(struct heap_input *input, const struct heap_sink *sink,
			struct error *err)
{
	struct monitor_reader reader = { .input = input, .sink = sink };
	int code = read_lines(&reader, err);

	if (reader.bad > BAD_LINES_MOST)
		heap_input_warn(input, "%" PRIu64 " more lines are no events",
				reader.bad - BAD_LINES_MOST);
	if (!code && (input->trace->failed || reader.crawls.failed))
		code = error_no_memory(err);
	input->trace->damaged += reader.bad + (reader.cut && !reader.bad);
	if (!code && reader.bad && !reader.good)
		code = error_set(err, -EBADMSG,
				 "no line is one of a heap monitoring file");
	else if (!code && (reader.bad || reader.cut))
		code = error_set(err, -EBADMSG, "'%s' is damaged: what could "
				 "be read of it was used", input->path);
	heap_strings_free(&reader.crawls);
	free(reader.stacks);
	free(reader.names);
	return code;
}

/* By the first line that says anything. */
static int monitor_detect(const uint8_t *data, size_t size)
{
	struct monitor_span rest = input_text(data, size), text;
	struct monitor_line line;

	while (monitor_line_take(&rest, &text)) {
		line = line_parse(text);
		if (line.kind == MONITOR_EVENT || line.kind == MONITOR_LOST)
			return 1;
		if (line.kind == MONITOR_NOTHING && line.text.length)
			return 2;
		if (line.kind == MONITOR_BAD)
			return 0;
	}
	return 0;
}

/* ---- writing ---- */

struct monitor_writer {
	struct heap_output *output;
	bool begun, cut_warned;
	int address_width;
	uint32_t old_pid;
};

/* The heading, when it is known how wide an address is. */
static void writer_begin(struct monitor_writer *writer, uint64_t address)
{
	const struct heap_trace *trace = writer->output->trace;

	if (writer->begun)
		return;
	writer->begun = true;
	writer->address_width = trace->bits == 64 || address > UINT32_MAX ?
		ADDRESS_WIDE : ADDRESS;
	fprintf(writer->output->file, "%-*s%-*s%-*s%-*s%-*s%s\n",
		THREAD, "Thread", TIME, "Time of event",
		writer->address_width, "Address", SIZE, "Size", TYPE, "Type",
		"Stack crawl");
}

/* A text in its column, and a blank. */
__attribute__((format(printf, 3, 4)))
static void column_put(const struct monitor_writer *writer, int width,
		       const char *fmt, ...)
{
	char text[32];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(writer->output->file, "%-*s ", width - 1, text);
}

/* Of an event, in microseconds. */
static int64_t monitor_time(struct monitor_writer *writer,
			    const struct heap_step *step)
{
	int64_t time = step->event->time;

	if (time == HEAP_NO_TIME || time < 0) {
		heap_output_warn(writer->output,
				 "times are not known: they are the numbers of the events");
		return step->number;
	}
	if (time % 1000 && !writer->cut_warned) {
		writer->cut_warned = true;
		heap_output_warn(writer->output,
				 "times are cut to microseconds");
	}
	return time / 1000;
}

/* The name of a type as one word: a blank in it becomes '_', or nothing. For
 * free(). */
static char *type_word(const char *name)
{
	char *word = malloc(strlen(name) + 1), *end = word;

	if (!word)
		return NULL;
	for (const char *at = name; *at; at++) {
		if ((unsigned char)*at > ' ' && *at != 0x7f)
			*end++ = *at;
		else if (at != name && at[-1] != ',' &&
			 (at[-1] != '>' || at[1] != '>'))
			*end++ = '_';
	}
	*end = '\0';
	return word;
}

static int type_put(struct monitor_writer *writer,
		    const struct heap_event *event, bool crawl)
{
	const char *text = "notype";
	char *word = NULL;

	if (event->type_kind == HEAP_TYPE_NAMED && event->type) {
		word = type_word(heap_text(writer->output->trace, event->type));
		if (!word)
			return -ENOMEM;
		text = *word ? word : text;
	} else if (event->type_kind == HEAP_TYPE_NO_TABLE) {
		text = "novtbl";
	}
	if (event->type_kind == HEAP_TYPE_NONE)
		heap_output_warn(writer->output,
				 "types that are not known are 'notype'");
	fprintf(writer->output->file, "%-*s%s", crawl ? TYPE - 1 : 0, text,
		crawl ? " " : "");
	free(word);
	return 0;
}

/* Would it be read as one name? */
static bool name_is_whole(const char *name)
{
	struct monitor_crawl crawl = { name, name + strlen(name) };
	struct monitor_span span;

	return !strchr(name, '|') ||
	       (crawl_next(&crawl, &span) && !crawl.plain &&
		span.length == strlen(name));
}

static int monitor_name_put(struct monitor_writer *writer, uint32_t frame)
{
	const struct heap_trace *trace = writer->output->trace;
	const char *name = heap_text(trace, trace->frames[frame].symbol);
	char text[8192], *copy = NULL;

	if (!*name) {
		heap_frame_place(trace, frame, text, sizeof(text));
		name = text;
	}
	if (!name_is_whole(name)) {
		name = copy = strdup(name);
		if (!copy)
			return -ENOMEM;
		for (char *bar = copy; (bar = strchr(bar, '|')); )
			*bar = '!';
	}
	safe_text_print(writer->output->file, name, false);
	free(copy);
	return 0;
}

static int crawl_put(struct monitor_writer *writer, uint32_t stack)
{
	const struct heap_trace *trace = writer->output->trace;
	int code = 0;

	while (stack && !code) {
		code = monitor_name_put(writer, trace->stacks[stack].frame);
		stack = trace->stacks[stack].parent;
		if (stack)
			putc('|', writer->output->file);
	}
	return code;
}

static int line_put(struct monitor_writer *writer,
		    const struct heap_step *step, uint64_t address,
		    bool deleted)
{
	static const struct heap_event came = {
		.type_kind = HEAP_TYPE_NO_TABLE,
	};
	const struct heap_event *event = step->event;
	bool old = event->kind == HEAP_OLD;
	uint32_t stack = old ? 0 : event->stack;
	int code;

	writer_begin(writer, address);
	column_put(writer, THREAD, "%u-%u", old ? 0 : event->pid,
		   old ? 0 : event->tid);
	if (old)
		column_put(writer, TIME, "old");
	else
		column_put(writer, TIME, "%" PRId64,
			   monitor_time(writer, step));
	column_put(writer, writer->address_width, "0x%" PRIx64, address);
	if (deleted)
		column_put(writer, SIZE, "del");
	else
		column_put(writer, SIZE, "%" PRIu64, event->size);
	code = type_put(writer, deleted || old ? event : &came, stack != 0);
	if (!code)
		code = crawl_put(writer, stack);
	putc('\n', writer->output->file);
	return code;
}

static int old_put(struct monitor_writer *writer, const struct heap_step *step)
{
	if (!step->came || step->came->number != step->number)
		return 0;	/* it is there already */
	if (writer->old_pid && writer->old_pid != step->event->pid)
		heap_output_warn(writer->output,
				 "of old blocks the process is left out");
	writer->old_pid = step->event->pid;
	return line_put(writer, step, step->event->address, false);
}

static int monitor_step_put(struct monitor_writer *writer,
			    const struct heap_step *step)
{
	const struct heap_event *event = step->event;
	bool late = step->wrong & HEAP_WRONG_LATE;
	int code = 0;

	if (event->function == HEAP_FUNCTION_MMAP ||
	    event->function == HEAP_FUNCTION_MUNMAP ||
	    event->function == HEAP_FUNCTION_MREMAP) {
		heap_output_warn(writer->output,
				 "pages from mmap() are left out");
		return 0;
	}
	switch (event->kind) {
	case HEAP_ALLOC:
	case HEAP_REALLOC:
		if (event->kind == HEAP_REALLOC && event->old && !late)
			code = line_put(writer, step, event->old, true);
		if (!code && step->came)
			code = line_put(writer, step, event->address, false);
		return code;
	case HEAP_FREE:
		return (event->address || step->gone) && !late ?
			line_put(writer, step, event->address, true) : 0;
	case HEAP_OLD:
		return old_put(writer, step);
	case HEAP_LOSS:
		writer_begin(writer, 0);
		if (event->lost == HEAP_LOST_UNKNOWN)
			fputs("*** some " MONITOR_LOSS "\n",
			      writer->output->file);
		else
			fprintf(writer->output->file,
				"*** %" PRIu64 " " MONITOR_LOSS "\n",
				event->lost);
		return 0;
	case HEAP_GROW:
	case HEAP_INTERNAL:
		heap_output_warn(writer->output,
				 "the heap's own memory is left out");
		return 0;
	case HEAP_FORK:
	case HEAP_EXEC:
	case HEAP_EXIT:
		heap_output_warn(writer->output,
				 "beginnings and ends of processes are left out");
		return 0;
	case HEAP_BEGIN:
		break;
	}
	return 0;
}

static int monitor_step(struct heap_output *output, void *state,
			const struct heap_model *model,
			const struct heap_step *step, struct error *err)
{
	return monitor_step_put(state, step) ? error_no_memory(err) : 0;
}

static int monitor_begin(struct heap_output *output, void *state,
			 struct error *err)
{
	((struct monitor_writer *)state)->output = output;
	heap_output_warn(output,
			 "the functions that allocate and free, and source lines are left out");
	return 0;
}

static int monitor_end(struct heap_output *output, void *state,
		       const struct heap_model *model, bool failed,
		       struct error *err)
{
	if (!failed)
		writer_begin(state, 0);
	return 0;
}

const struct heap_format format_monitor = {
	.name = "monitor",
	.help = "heap monitoring text",
	.detect = monitor_detect,
	.read_events = monitor_read,
	.state_size = sizeof(struct monitor_writer),
	.begin = monitor_begin,
	.step = monitor_step,
	.end = monitor_end,
};

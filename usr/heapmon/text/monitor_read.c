// SPDX-License-Identifier: GPL-2.0
#include "monitor_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "heapmon/core/warn.h"
#include "monitor_line.h"

#define BAD_LINES_MOST	10	/* lines that are reported one by one */

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

/* ---- stacks ---- */

static bool name_is_address(const struct monitor_span *name, uint64_t *address)
{
	char digits[20], *end;

	if (name->length < 3 || name->length >= sizeof(digits) ||
	    memcmp(name->text, "0x", 2))
		return false;
	memcpy(digits, name->text, name->length);
	digits[name->length] = '\0';
	errno = 0;
	*address = strtoull(digits, &end, 16);
	return !*end && !errno;
}

static uint32_t name_frame(struct heap_trace *trace,
			   const struct monitor_span *name)
{
	static const char stopped[] = "(stopped";
	struct heap_frame frame = { 0 };

	if (!name_is_address(name, &frame.address))
		frame.symbol = heap_strings_add_length(&trace->strings,
						       name->text,
						       name->length);
	frame.stopped = name->length > sizeof(stopped) &&
			!memcmp(name->text, stopped, sizeof(stopped) - 1);
	return heap_trace_frame(trace, &frame);
}

static uint32_t crawl_stack(struct monitor_reader *reader,
			    const struct monitor_span *text)
{
	struct monitor_crawl crawl = { text->text, text->text + text->length };
	struct heap_trace *trace = reader->input->trace;
	struct monitor_span name;
	uint32_t stack = 0;
	size_t count = 0;

	while (monitor_crawl_next(&crawl, &name)) {
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
		stack = heap_trace_stack(trace, stack,
					 name_frame(trace,
						    &reader->names[--count]));
	return stack;
}

/* Each crawl is taken apart once. */
static uint32_t reader_stack(struct monitor_reader *reader,
			     const struct monitor_span *crawl)
{
	uint32_t number;

	if (!crawl->length)
		return 0;
	number = heap_strings_add_length(&reader->crawls, crawl->text,
					 crawl->length);
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

/* ---- lines ---- */

static int read_event(struct monitor_reader *reader,
		      const struct monitor_line *line, struct error *err)
{
	struct heap_event event = {
		.kind = line->old ? HEAP_OLD :
			line->deleted ? HEAP_FREE : HEAP_ALLOC,
		.pid = line->old && !line->pid ? reader->pid : line->pid,
		.tid = line->tid, .time = line->time,
		.address = line->address, .size = line->size,
		.stack = reader_stack(reader, &line->crawl),
	};

	if (line->old || line->deleted) {
		if (line->type.length == 6 &&
		    !memcmp(line->type.text, "novtbl", 6))
			event.type_kind = HEAP_TYPE_NO_TABLE;
		else if (line->type.length == 6 &&
			 !memcmp(line->type.text, "notype", 6))
			event.type_kind = HEAP_TYPE_OTHER;
		else
			event.type_kind = HEAP_TYPE_NAMED;
		if (event.type_kind == HEAP_TYPE_NAMED)
			event.type = heap_strings_add_length(
				&reader->input->trace->strings, line->type.text,
				line->type.length);
	}
	reader->good++;
	return heap_sink_take(reader->sink, &event, err);
}

static int read_line(struct monitor_reader *reader, const char *text,
		     size_t length, struct error *err)
{
	struct monitor_line line;
	struct heap_event event;
	uint64_t *lost;

	reader->lines++;
	monitor_line_parse(text, length, &line);
	switch (line.kind) {
	case MONITOR_EVENT:
		return read_event(reader, &line, err);
	case MONITOR_LOST:
		event = (struct heap_event){
			.kind = HEAP_LOSS,
			.time = HEAP_NO_TIME,
			.lost = line.lost,
		};
		lost = &reader->input->trace->lost;
		reader->good++;
		if (*lost > HEAP_LOST_UNKNOWN - line.lost)
			*lost = HEAP_LOST_UNKNOWN;
		else
			*lost += line.lost;
		return heap_sink_take(reader->sink, &event, err);
	case MONITOR_BANNER:
		heap_input_warn(reader->input,
				"line %" PRIu64 " says: %.*s", reader->lines, line.text.length > 200 ? 200 : (int)line.text.length, line.text.text);
		return 0;
	case MONITOR_NOTHING:
		return 0;
	case MONITOR_BAD:
		break;
	}
	if (++reader->bad <= BAD_LINES_MOST)
		heap_input_warn(reader->input,
				"line %" PRIu64 " is no event", reader->lines);
	return 0;
}

/* Old blocks are those of the process that the file is of: the first one that
 * does anything. */
static uint32_t first_pid(const char *at, const char *end)
{
	while (at < end) {
		const char *stop = memchr(at, '\n', end - at);
		struct monitor_line line;

		if (!stop)
			stop = end;
		monitor_line_parse(at, stop - at, &line);
		if (line.kind == MONITOR_EVENT && line.pid)
			return line.pid;
		at = stop < end ? stop + 1 : end;
	}
	return 0;
}

static int read_lines(struct monitor_reader *reader, struct error *err)
{
	const char *at = (const char *)reader->input->data;
	const char *end = at + reader->input->size;
	int code = 0;

	reader->pid = first_pid(at, end);
	while (at < end && !code) {
		const char *stop = memchr(at, '\n', end - at);

		if (!stop) {
			heap_input_warn(reader->input,
					"the last line has no end");
			reader->cut = true;
			stop = end;
		}
		code = read_line(reader, at, stop - at, err);
		at = stop < end ? stop + 1 : end;
	}
	return code;
}

/* By the first line that says anything. */
int monitor_detect(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;

	while (at < end) {
		const char *stop = memchr(at, '\n', end - at);
		struct monitor_line line;

		if (!stop)
			stop = end;
		monitor_line_parse(at, stop - at, &line);
		if (line.kind == MONITOR_EVENT || line.kind == MONITOR_LOST)
			return 1;
		if (line.kind == MONITOR_NOTHING && line.text.length)
			return 2;
		if (line.kind != MONITOR_NOTHING &&
		    line.kind != MONITOR_BANNER)
			return 0;
		at = stop < end ? stop + 1 : end;
	}
	return 0;
}

int monitor_read(struct heap_input *input, const struct heap_sink *sink,
		 struct error *err)
{
	struct monitor_reader reader = { .input = input, .sink = sink };
	int code = read_lines(&reader, err);

	if (reader.bad > BAD_LINES_MOST)
		heap_input_warn(reader.input,
				"%" PRIu64 " more lines are no events", reader.bad - BAD_LINES_MOST);
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

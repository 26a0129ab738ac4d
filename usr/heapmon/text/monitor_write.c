// SPDX-License-Identifier: GPL-2.0
#include "monitor_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/safe_text.h"
#include "heapmon/core/warn.h"
#include "monitor_line.h"

/* The columns' widths with a blank, as those of the original. */
#define THREAD		12
#define TIME		20
#define ADDRESS		12
#define ADDRESS_WIDE	16	/* of 64 bits */
#define SIZE		8
#define TYPE		16

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
static void monitor_column_put(const struct monitor_writer *writer, int width,
			       const char *text)
{
	fprintf(writer->output->file, "%-*s ", width - 1, text);
}

static void thread_put(const struct monitor_writer *writer,
		       const struct heap_event *event)
{
	char text[32] = "0-0";

	if (event->kind != HEAP_OLD)
		snprintf(text, sizeof(text), "%u-%u", event->pid, event->tid);
	monitor_column_put(writer, THREAD, text);
}

static void monitor_time_put(struct monitor_writer *writer,
			     const struct heap_step *step)
{
	int64_t time = step->event->time;
	char text[32];

	if (step->event->kind == HEAP_OLD) {
		monitor_column_put(writer, TIME, "old");
		return;
	}
	if (time == HEAP_NO_TIME || time < 0) {
		heap_output_warn(writer->output,
				 "times are not known: they are the numbers of the events");
		time = step->number * 1000;
	} else if (time % 1000 && !writer->cut_warned) {
		writer->cut_warned = true;
		heap_output_warn(writer->output,
				 "times are cut to microseconds");
	}
	snprintf(text, sizeof(text), "%" PRId64, time / 1000);
	monitor_column_put(writer, TIME, text);
}

static void monitor_number_put(const struct monitor_writer *writer, int width,
			       const char *fmt, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), fmt, number);
	monitor_column_put(writer, width, text);
}

/* ---- the type: one word ---- */

/* What a blank in the name of a type becomes; 0: nothing. */
static char blank_become(const char *name, const char *at)
{
	if (at == name || at[-1] == ',' || (at[-1] == '>' && at[1] == '>'))
		return 0;
	return '_';
}

static char *type_word(const char *name)
{
	char *word = malloc(strlen(name) + 1), *end = word;

	if (!word)
		return NULL;
	for (const char *at = name; *at; at++) {
		char c = (unsigned char)*at <= ' ' || *at == 0x7f ?
			blank_become(name, at) : *at;

		if (c)
			*end++ = c;
	}
	*end = '\0';
	return word;
}

static int type_put(struct monitor_writer *writer,
		    const struct heap_event *event, bool crawl)
{
	const char *text = "novtbl";
	char *word = NULL;

	if (event->type_kind == HEAP_TYPE_NAMED && event->type) {
		word = type_word(heap_text(writer->output->trace, event->type));
		if (!word)
			return -ENOMEM;
		text = *word ? word : "notype";
	} else if (event->type_kind != HEAP_TYPE_NO_TABLE) {
		text = "notype";
	}
	if (event->type_kind == HEAP_TYPE_NONE)
		heap_output_warn(writer->output,
				 "types that are not known are 'notype'");
	fprintf(writer->output->file, "%-*s%s", crawl ? TYPE - 1 : 0, text,
		crawl ? " " : "");
	free(word);
	return 0;
}

/* ---- the stack crawl ---- */

/* Would it be read as one name? */
static bool name_is_whole(const char *name)
{
	struct monitor_crawl crawl = { name, name + strlen(name) };
	struct monitor_span span;

	return !strchr(name, '|') ||
	       (monitor_crawl_next(&crawl, &span) && !crawl.plain &&
		span.length == strlen(name));
}

static int monitor_name_put(struct monitor_writer *writer, uint32_t frame)
{
	const struct heap_trace *trace = writer->output->trace;
	const char *name = heap_text(trace, trace->frames[frame].symbol);
	char text[8192];
	char *copy;

	if (!*name) {
		heap_frame_place(trace, frame, text, sizeof(text));
		name = text;
	}
	if (name_is_whole(name)) {
		safe_text_print(writer->output->file, name, false);
		return 0;
	}
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	for (char *bar = copy; (bar = strchr(bar, '|')); )
		*bar = '!';
	safe_text_print(writer->output->file, copy, false);
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

/* ---- lines ---- */

static int line_put(struct monitor_writer *writer,
		    const struct heap_step *step, uint64_t address,
		    bool deleted)
{
	static const struct heap_event came = {
		.type_kind = HEAP_TYPE_NO_TABLE,
	};
	const struct heap_event *event = step->event;
	const struct heap_event *typed = deleted || event->kind == HEAP_OLD ?
		event : &came;
	uint32_t stack = event->kind == HEAP_OLD ? 0 : event->stack;
	int code;

	writer_begin(writer, address);
	thread_put(writer, event);
	monitor_time_put(writer, step);
	monitor_number_put(writer, writer->address_width, "0x%" PRIx64,
			   address);
	if (deleted)
		monitor_column_put(writer, SIZE, "del");
	else
		monitor_number_put(writer, SIZE, "%" PRIu64, event->size);
	code = type_put(writer, typed, stack != 0);
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

static int monitor_writer_step(struct monitor_writer *writer,
			       const struct heap_step *step)
{
	const struct heap_event *event = step->event;
	int code;

	if (event->function == HEAP_FUNCTION_MMAP ||
	    event->function == HEAP_FUNCTION_MUNMAP ||
	    event->function == HEAP_FUNCTION_MREMAP) {
		heap_output_warn(writer->output,
				 "pages from mmap() are left out");
		return 0;
	}
	switch (event->kind) {
	case HEAP_ALLOC:
		return step->came ?
			line_put(writer, step, event->address, false) : 0;
	case HEAP_REALLOC:
		code = 0;
		if (step->event->old && !(step->wrong & HEAP_WRONG_LATE))
			code = line_put(writer, step, step->event->old, true);
		if (!code && step->came)
			code = line_put(writer, step, step->event->address,
					false);
		return code;
	case HEAP_FREE:
		return (event->address || step->gone) &&
		       !(step->wrong & HEAP_WRONG_LATE) ?
			line_put(writer, step, event->address, true) : 0;
	case HEAP_OLD:
		return old_put(writer, step);
	case HEAP_LOSS:
		writer_begin(writer, 0);
		if (event->lost == HEAP_LOST_UNKNOWN)
			fprintf(writer->output->file,
				"*** some " MONITOR_LOSS "\n");
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
	int code = monitor_writer_step(state, step);

	return code ? error_no_memory(err) : 0;
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

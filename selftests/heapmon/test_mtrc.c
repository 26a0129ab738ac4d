// SPDX-License-Identifier: GPL-2.0
/* Which records of an mpatrol trace come of which events: what a process has
 * from its parent, blocks in whose place others come, failed and unknown ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include "heapmon/core/format.h"
#include "heapmon/mpatrol/mpatrol.h"

#define A(at, n)	{ .kind = HEAP_ALLOC, .pid = 1, .address = at, \
			  .size = n }
#define F(at)		{ .kind = HEAP_FREE, .pid = 1, .address = at }
#define R(from, at, n)	{ .kind = HEAP_REALLOC, .pid = 1, .old = from, \
			  .address = at, .size = n }
#define OLD(at, n)	{ .kind = HEAP_OLD, .pid = 1, .address = at, \
			  .size = n }
#define OF(number, ...)	{ __VA_ARGS__, .pid = number }
#define FORK(child)	{ .kind = HEAP_FORK, .pid = child, .parent = 1 }

static const struct row {
	const char *name;
	struct heap_event events[8];
	const char *records;
} rows[] = {
	{ "one block", { A(16, 4), F(16) }, "A1:16+4 F1 " },
	{ "a block that is resized keeps its index",
	  { A(16, 4), A(32, 4), R(16, 64, 9), F(64) },
	  "A1:16+4 A2:32+4 R1:64+9 F1 " },
	{ "realloc(p, 0)", { A(16, 4), R(16, 0, 0) }, "A1:16+4 F1 " },
	{ "an old block that is resized is a new one",
	  { OLD(16, 4), R(16, 64, 9), F(64) }, "A1:64+9 F1 " },
	{ "so is an unknown one", { R(16, 64, 9), F(64) }, "A1:64+9 F1 " },
	{ "what isn't known isn't freed", { F(16), A(16, 1), F(16), F(16) },
	  "A1:16+1 F1 " },
	{ "another block in its place: its free was lost",
	  { A(16, 4), A(16, 8), F(16) }, "A1:16+4 F1 A2:16+8 F2 " },
	{ "resized to where another one is",
	  { A(16, 4), A(64, 8), R(16, 64, 9), F(64) },
	  "A1:16+4 A2:64+8 F2 R1:64+9 F1 " },
	{ "a child frees what its parent had",
	  { A(16, 4), FORK(2), OF(2, .kind = HEAP_FREE, .address = 16),
	    F(16) }, "A1:16+4 F1 " },
	{ "a child resizes what its parent had",
	  { A(16, 4), FORK(2), OF(2, .kind = HEAP_REALLOC, .old = 16,
				  .address = 64, .size = 9),
	    F(16), OF(2, .kind = HEAP_FREE, .address = 64) },
	  "A1:16+4 A2:64+9 F1 F2 " },
	{ "the heap grows",
	  { { .kind = HEAP_INTERNAL, .address = 4096, .size = 1 },
	    { .kind = HEAP_GROW, .pid = 1, .address = 8192, .size = 2 },
	    A(16, 4) }, "I:4096+1 H:8192+2 A1:16+4 " },
	{ "what is lost, and processes, are no records",
	  { { .kind = HEAP_BEGIN, .pid = 1 }, A(16, 4),
	    { .kind = HEAP_LOSS, .lost = 3 }, { .kind = HEAP_EXEC, .pid = 1 },
	    A(16, 5) }, "A1:16+4 A2:16+5 " },
};

static void ignore_warning(void *context, const char *text)
{
}

/* The records as text; they have no names. */
static char *records_text(const char *data, size_t size)
{
	struct heap_trace trace;
	struct heap_input input = { .path = "-", .data = (void *)data,
				    .size = size, .trace = &trace };
	struct mpatrol_cursor cursor;
	uint64_t version;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (mpatrol_open(&cursor, &input, "MTRC", &version, NULL))
		tap_bail("no header");
	while (!cursor.in.failed && !mpatrol_magic(&cursor, "MTRC")) {
		char letter = cursor_fixed(&cursor.in, 1);
		bool block = strchr("ARF", letter);

		putc(letter, out);
		if (block)
			fprintf(out, "%ju", (uintmax_t)cursor_uleb(&cursor.in));
		if (letter != 'F')
			fprintf(out, ":%ju",
				(uintmax_t)cursor_uleb(&cursor.in));
		if (letter != 'F')
			fprintf(out, "+%ju",
				(uintmax_t)cursor_uleb(&cursor.in));
		for (int i = 0; block && i < 4; i++)
			cursor_uleb(&cursor.in);
		putc(' ', out);
	}
	if (cursor.in.failed || mpatrol_left(&cursor))
		fputs("and no end", out);
	fclose(out);
	return text;
}

static char *records_make(const struct row *row, bool rebase)
{
	const struct heap_options options = { .rebase = rebase };
	struct heap_trace trace;
	struct heap_model model;
	struct heap_step step;
	char *data, *text;
	size_t size;
	struct heap_output output = {
		.file = open_memstream(&data, &size), .path = "-",
		.options = &options, .trace = &trace, .warn = ignore_warning,
	};
	void *state = calloc(1, format_mtrc.state_size);

	heap_trace_init(&trace);
	heap_model_init(&model, &trace);
	if (!state || format_mtrc.begin(&output, state, NULL))
		tap_bail("no memory");
	for (size_t i = 0; i < 8; i++) {
		if (i && !memcmp(&row->events[i], &(struct heap_event){ 0 },
				 sizeof(struct heap_event)))
			break;
		if (heap_model_apply(&model, &row->events[i], &step) ||
		    format_mtrc.step(&output, state, &model, &step, NULL))
			tap_bail("no memory");
	}
	if (format_mtrc.end(&output, state, &model, false, NULL))
		tap_bail("no end");
	free(state);
	fclose(output.file);
	text = records_text(data, size);
	free(data);
	heap_model_free(&model);
	heap_trace_free(&trace);
	return text;
}

static void rebase_test(void)
{
	static const struct row row = { "", {
		A(0x7fff00001ff8, 16), A(0x7fff00000010, 1),
		A(0x7fff00005000, 4096), A(0x400000, 1),
		{ .kind = HEAP_GROW, .address = 0x7fff00003000, .size = 4096 },
		A(UINT64_MAX - 3, 4), R(0x7fff00000010, 0x7fff00004fff, 2),
	}, "" };
	char *text = records_make(&row, true);

	/* pages: 0x400; 0x7fff00000 to 0x7fff00005; the last one */
	tap_str(text, "A1:20472+16 A2:12304+1 A3:32768+4096 A4:4096+1 "
	       "H:24576+4096 A5:45052+4 R2:32767+2 ",
	       "--rebase moves the pages together");
	free(text);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = records_make(&rows[i], false);

		tap_str(text, rows[i].records, "%s", rows[i].name);
		free(text);
	}
	rebase_test();
	return tap_done();
}

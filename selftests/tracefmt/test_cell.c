// SPDX-License-Identifier: GPL-2.0
/* The values of an event on one line (--tree), and a field by name (--fields); the
 * names of process and thread. */
#include <tap.h>
#include "tracefmt/output/cell.h"
#include "row.h"

static const struct {
	const char *fmt, *data;
	const char *line, *field;	/* "n" of it */
} rows[] = {
	{ "n = %R%C\n", "P('gift wrap')", "n = gift wrap", "gift wrap" },
	{ "n = %R%C\n", "P(' gift  wrap ')", "n = gift wrap", " gift  wrap " },
	{ "n = %R%B m = %W\n", "P(0102) 0304", "n = 01 02, m = 0403", "01 02" },
	{ "n = %P%S\n", "S(' a  b ')", "n = \" a  b \"", "\" a  b \"" },
	{ "m = %R%C, n = %B\n", "P('a b') 07", "m = a b, n = 07", "07" },
};

static struct value_types types;

static void test_row(size_t i)
{
	struct trace trace = { 0 };
	struct match_point point = { .formatted = true };
	struct event event = { .trace = &trace, .point = &point };
	struct output_settings settings = { 0 };
	struct output output = { .settings = &settings };
	static struct scratch scratch;
	struct cell_source source = { &output, &event, &scratch };
	struct cell cell = {
		.item = { COLUMN_FIELD, .name = "n", .length = 1 },
		.quoted = true,
	};
	struct ras_record *record = row_record(rows[i].data, 0);
	struct text text;

	decode_compile(&point.format, rows[i].fmt, &types);
	field_set_make(&point.fields, &point.format);
	event.record = record;
	text_open(&text, -1);
	output_decode(&event, &scratch, NULL);
	arguments_put(&output, &event, &scratch, NULL, &text);
	text_add_char(&text, '\0');
	tap_str(text.data, rows[i].line, "'%s' of %s", rows[i].fmt,
		rows[i].data);
	text.used = 0;
	cell_put(&cell, &source, &text);
	text_add_char(&text, '\0');
	tap_str(text.data, rows[i].field, "the field alone");
	free(text.data);
	free(scratch.pieces);
	scratch.pieces = NULL;
	scratch.room = 0;
	free(record);
	field_set_free(&point.fields);
	decode_free(&point.format);
}

/* Process 42 was "old" before it became another program. */
static const struct {
	uint32_t mask, pid;
	const char *process, *thread, *context;
} names[] = {
	{ 0, 42, "old", "old", "" },
	{ 0, 43, NULL, NULL, "" },
	{ RAS_CONTEXT_COMM, 42, "old", "now", "Comm [now]\n" },
	{ RAS_CONTEXT_COMM, 43, "now", "now", "Comm [now]\n" },
	{ RAS_CONTEXT_NAME, 42, "now", "now", "" },
	{ RAS_CONTEXT_NAME | RAS_CONTEXT_COMM, 42, "now", "now",
	  "Comm [now]\n" },
	{ RAS_CONTEXT_NAME | RAS_CONTEXT_CPU, 43, "now", "now", "CPU [3]\n" },
};

static void test_name(size_t i)
{
	struct {
		struct ras_record record;
		char comm[16];
		uint64_t cpu;
	} r = { { .length = sizeof(r), .pid = names[i].pid }, "now", 3 };
	struct ras_process_entry old = {
		.key.pid = 42, .process.comm = "old",
	};
	struct match_point point = { .context = names[i].mask };
	struct trace trace = { 0 };
	struct event event = { .trace = &trace, .point = &point,
			       .record = &r.record };
	struct context context = context_of(&r.record, names[i].mask);
	char text[1024];

	process_table_add(&trace.file.processes, (void *)&old, sizeof(old));
	tap_str(event_comm(&event), names[i].process, "context %#x: process %u",
		names[i].mask, names[i].pid);
	tap_str(event_thread_comm(&event), names[i].thread, "  thread");
	*context_put(&context, (struct stack_owner){ 0 }, text) = '\0';
	tap_str(text, names[i].context, "  what was asked for");
	process_table_free(&trace.file.processes);
}

/* The modules of two sessions, and what a DESC is then */
static const struct {
	const char *modules[2];
	bool pipe;
	const char *desc, *bare;
} descs[] = {
	{ { "/usr/bin/app" }, false, "(app) open", "open" },
	{ { "/usr/bin/app", "/usr/bin/app" }, false, "(app) open", "open" },
	{ { "/usr/bin/app", "/bin/app" }, false, "(app) open", "(app) open" },
	{ { "/usr/bin/app", "/lib/b.so" }, false, "(app) open", "(app) open" },
	{ { "/usr/bin/app" }, true, "(app) open", "(app) open" },
	{ { "/lib/libc.so.6" }, false, "(libc) open", "open" },
	{ { "/lib/libc.so.6" }, false, "(libc.so) open", "open" },
	{ { "/lib/libc.so.6" }, false, "(lib) open", "(lib) open" },
	{ { "vmlinux" }, false, "(vmlinux) vfs_open", "vfs_open" },
	{ { "/usr/bin/app" }, false, "(OS) DosOpen", "(OS) DosOpen" },
	{ { "/usr/bin/app" }, false, "(app) ", "(app) " },
	{ { "/usr/bin/app" }, false, "(app)", "(app)" },
	{ { "/usr/bin/app" }, false, "(app", "(app" },
	{ { "/usr/bin/app" }, false, "(application) x", "(application) x" },
	{ { "/usr/bin/app" }, false, "open", "open" },
	{ { "/" }, false, "() open", "open" },
	{ { NULL }, false, "(app) open", "(app) open" },
};

static void test_desc(size_t i)
{
	struct trace_session sessions[2], *places[] = {
		&sessions[0], &sessions[1],
	};
	struct trace trace = { .file.sessions = places }, *traces[] = {
		&trace,
	};
	const struct stream stream = { .traces = traces, .count = 1 };
	struct output output = { 0 };

	trace.file.source.pipe = descs[i].pipe;
	while (trace.file.session_count < 2 &&
	       descs[i].modules[trace.file.session_count]) {
		size_t k = trace.file.session_count++;

		strcpy(sessions[k].module, descs[i].modules[k]);
	}
	output.module = output_module_find(&stream);
	tap_str(output_desc(&output, descs[i].desc), descs[i].bare,
		"'%s' of %zu sessions", descs[i].desc,
		trace.file.session_count);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(descs) / sizeof(*descs); i++)
		test_desc(i);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		test_name(i);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		test_row(i);
	return tap_done();
}

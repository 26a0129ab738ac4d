// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a .ras file, in every output that fuzz_ras.c doesn't have - CTF,
 * Perfetto, a page, pairs, a tree, calls, columns -, selected from and in another order.
 * The corpus has its TFFs with it. Its header is put right;
 * the last byte chooses.
 */
#include "tracefmt/ctf/ctf.c"
#include "lib/hash.h"
#include "tracefmt/filter/filter.h"
#include "tracefmt/output/diff.h"
#include "tracefmt/output/summary.h"
#include "tracefmt/output/pipeline.h"
#include "tracefmt/output/prefix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What one run does, by the input's last byte. */
struct run {
	struct stream stream;
	struct output_settings settings;
	struct output output;
	struct pipeline *pipeline;
	struct filter *filter;
	struct order *order;
	struct selected *selected;
	struct scratch scratch;
};

static void header_mend(uint8_t *data, size_t size)
{
	struct ras_file *header = (void *)data;

	if (size < sizeof(*header))
		return;
	memcpy(header->magic, RAS_FILE_MAGIC, sizeof(header->magic));
	header->order = RAS_FILE_ORDER;
	header->version = RAS_FILE_VERSION;
	header->layout = RAS_LAYOUT;
	header->flags = 0;
	if (header->size < sizeof(*header) || header->size > size)
		header->size = sizeof(*header);
	header->size &= ~7;
	header->crc = 0;
	header->crc = hash_crc32(0, data, header->size);
}

static int event_give(void *context, const struct event *event)
{
	struct run *run = context;
	int code = selected_add(run->selected, event);

	return code ? code : pipeline_give(run->pipeline, event);
}

/* Options that most events get through */
static void choice_make(struct run *run, size_t choice,
			struct order_settings *order)
{
	static const char *const options[][2] = {
		{ "pid", "1-99999999" }, { "comm", "*" }, { "text", "/[0-9]/" },
		{ "since", "-100" },
		{ "field", "n > 0 || !(name == \"x\") || latency > self" },
		{ "type", "0x1" }, { "until", "+1000" }, { "minor", "1-0xffff" },
	};
	const char *const *option = options[choice / 8 % 8];
	struct error err;

	run->filter = filter_open();
	if (!run->filter ||
	    (choice & 64 &&
	     filter_add(run->filter, option[0], option[1], &err)))
		abort();
	*order = (struct order_settings){
		.newest_first = choice & 128 && !run->output.ops->whole,
		.last = choice & 16 ? 5 : 0, .around = choice & 32 ? 2 : 0,
	};
	filter_order(run->filter, order);
}

static void output_make(struct run *run, size_t choice, char *path)
{
	static const struct output_ops *const forms[] = {
		&output_ctf, &output_perfetto, &output_html, &output_pairs,
		&output_tree, &output_prefixed, &output_json, &output_csv,
		&output_otlp, &output_call_text, &output_json_calls,
		&output_folded, &output_diff, &output_line, &output_pairs,
		&output_csv_calls,
	};
	size_t form = choice % (sizeof(forms) / sizeof(*forms));
	static char *columns[] = { "time,event,comm,.n,name", "fields,data" };
	static char *call_columns[] = {
		"function,latency,self,result,parent,doubt,depth,entry.n",
		"entry,exit,exit.name,n,time,comm,data",
	};

	run->settings = (struct output_settings){
		.utc = true, .path = path, .relative = choice & 16,
		.hex = choice & 32, .colour = choice & 64,
	};
	run->output = (struct output){
		.ops = forms[form], .settings = &run->settings,
		.stream = &run->stream,
	};
	run->settings.calls = form == 9 || form == 10 || form == 15;
	if (run->settings.calls) {
		run->settings.fields = call_columns;
		run->settings.field_count = choice & 64 ? 2 : 0;
	} else if (form == 6 || form == 7 || (form == 5 && choice & 8)) {
		run->settings.fields = columns;
		run->settings.field_count = 2;
	} else if (form == 5) {
		run->settings.prefix = "{time} {comm}[{tid}] {n}: ";
	}
}

static int choose_event(void *context, const struct event *event)
{
	struct run *run = context;

	return filter_holds(run->filter, event, &run->scratch);
}

static int choose_call(void *context, const struct pair_call *call)
{
	return filter_holds_call(((struct run *)context)->filter, call);
}

static int events_run(struct run *run)
{
	struct event event;
	struct error err;
	bool begun = false;
	int code, more;

	do {
		code = pipeline_flush(run->pipeline);
		if (!code)
			code = stream_more(&run->stream);
		if (!code && !begun)
			code = filter_start(run->filter, &run->stream,
					    &run->settings, &err);
		if (!code && !begun)
			code = pipeline_begin(run->pipeline, &err);
		begun = true;
		while (!code && (more = stream_next(&run->stream, &event)) ==
				STREAM_EVENT) {
			run->scratch.clock.start = run->stream.first;
			code = run->output.choice.context ? 1 :
			       filter_holds(run->filter, &event, &run->scratch);
			if (code >= 0)
				code = order_add(run->order, &event, code);
		}
	} while (!code && more == STREAM_WAIT);
	return code ? code : order_end(run->order);
}

/* With itself. */
static void diff_self(const struct output *output)
{
	struct text text = { .fd = -1 };

	if (diff_compare(output, output, &text))
		abort();
	free(text.data);
}

static void run_show(struct run *run, size_t choice, FILE *out)
{
	struct order_settings order;
	struct clock clock = { .utc = true };
	struct error err;
	int code;

	choice_make(run, choice, &order);
	run->order = order_open(&order, event_give, run);
	run->selected = selected_open(SUMMARY_ALL + choice % SUMMARY_KINDS,
				  &run->stream);
	if (run->output.ops->calls && choice & 128)
		run->output.choice = (struct output_choice){
			choose_event, choose_call, run,
		};
	run->pipeline = pipeline_open(&run->output, fileno(out), 1);
	if (!run->order || !run->selected || !run->pipeline)
		abort();
	code = events_run(run);
	stream_finish(&run->stream);
	code = pipeline_end(run->pipeline, code, &err);
	if (!code && run->output.ops == &output_diff)
		diff_self(&run->output);
	selected_print(out, run->selected, &clock);
	summary_print(out, &run->stream, &clock);
	for (size_t i = 0; filter_report(run->filter, i, &err) >= 0; i++)
		;
	order_close(run->order);
	selected_close(run->selected);
	filter_close(run->filter);
	pipeline_close(run->pipeline);
	free(run->scratch.pieces);
}

/* What is written is removed, as that of a failure is. */
static void output_drop(struct run *run)
{
	struct ctf *ctf = run->output.own;

	if (run->output.ops == &output_ctf && ctf)
		ctf->whole = false;
	output_free(&run->output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run *run = calloc(1, sizeof(*run));
	size_t choice = size ? data[size - 1] : 0;
	FILE *out = fopen("/dev/null", "w");
	struct search search = { 0 };
	struct trace *trace;
	struct error err;
	uint8_t *copy = malloc(size + 1);
	char path[64];

	if (!run || !copy || !out)
		abort();
	memcpy(copy, data, size);
	header_mend(copy, size);
	snprintf(path, sizeof(path), "/dev/shm/fuzz_outputs.%d", getpid());
	stream_open(&run->stream, &search, choice & 8);
	run->stream.system = true;
	output_make(run, choice, path);
	trace = stream_add(&run->stream, "fuzz.ras");
	if (!trace)
		abort();
	if (trace_file_open_memory(&trace->file, copy, size, "fuzz", &err)) {
		stream_drop(&run->stream);
	} else {
		run_show(run, choice, out);
		output_drop(run);
	}
	stream_close(&run->stream);
	search_free(&search);
	fclose(out);
	free(run);
	return 0;
}

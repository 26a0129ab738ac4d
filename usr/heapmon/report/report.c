// SPDX-License-Identifier: GPL-2.0
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/number.h"
#include "heapmon/command/commands.h"
#include "heapmon/mpatrol/style.h"

#define PROGRAM		"heapmon"
#define TOP_DEFAULT	10
#define ALL_SECTIONS	((1u << REPORT_SECTIONS) - 1)

enum report_form {
	FORM_TABLES, FORM_JSON, FORM_FLAME, FORM_MPTRACE, FORM_MPROF,
};

struct request {
	struct heap_options options;	/* commands.h: the first */
	enum report_form form;
	struct report_settings settings;
	const char *out;
	char **paths;			/* of the input */
	const char *graph;		/* NULL: none */
	bool diff, depth_given, verbose, source, addresses, counts, leaks;
};

/* ---- options ---- */

static const char *const section_names[REPORT_SECTIONS] = {
	[REPORT_SUMMARY] = "summary", [REPORT_WRONG] = "wrong",
	[REPORT_LIVE] = "live", [REPORT_PEAK] = "peak",
	[REPORT_ALLOCATED] = "allocated", [REPORT_TEMPORARY] = "temporary",
	[REPORT_SIZES] = "sizes", [REPORT_TIME] = "time",
	[REPORT_TYPES] = "types", [REPORT_THREADS] = "threads",
	[REPORT_TAGS] = "tags",
};

static int take_section(void *context, const char *value)
{
	struct request *request = context;

	for (unsigned int i = 0; i < REPORT_SECTIONS; i++) {
		if (strcmp(value, section_names[i]))
			continue;
		request->settings.sections |= 1u << i;
		return 0;
	}
	options_value_wrong("section", value, "there is no such section");
	fputs(PROGRAM ": there are:", stderr);
	for (unsigned int i = 0; i < REPORT_SECTIONS; i++)
		fprintf(stderr, " %s", section_names[i]);
	fputc('\n', stderr);
	return -1;
}

static int report_take_number(const char *option, const char *value,
			      uint32_t *number)
{
	uint64_t read;

	if (!quantity_number(value, &read) || read > UINT32_MAX)
		return options_value_wrong(option, value, "a number is expected; 0: all");
	*number = read;
	return 0;
}

static int take_top(void *context, const char *value)
{
	return report_take_number("top", value,
				  &((struct request *)context)->settings.top);
}

static int report_take_depth(void *context, const char *value)
{
	struct request *request = context;

	request->depth_given = true;
	return report_take_number("depth", value, &request->settings.depth);
}

static int take_min_age(void *context, const char *value)
{
	struct request *request = context;
	char *end;

	request->settings.min_age = strtod(value, &end);
	if (end == value || *end || !isfinite(request->settings.min_age) ||
	    request->settings.min_age < 0)
		return options_value_wrong("min-age", value, "seconds are expected");
	return 0;
}

static int form_set(struct request *request, enum report_form form)
{
	if (request->form == FORM_TABLES || request->form == form) {
		request->form = form;
		return 0;
	}
	fputs(PROGRAM ": only one of --html, --json and --style can be\n",
	      stderr);
	return -1;
}

#define TAKE_FORM(take, form)						\
static int take(void *context, const char *value)			\
{									\
	return form_set(context, form);					\
}

TAKE_FORM(take_html, FORM_FLAME)
TAKE_FORM(report_take_json, FORM_JSON)

static int take_style(void *context, const char *value)
{
	if (!strcmp(value, "mptrace"))
		return form_set(context, FORM_MPTRACE);
	if (!strcmp(value, "mprof"))
		return form_set(context, FORM_MPROF);
	return options_value_wrong("style", value, "'mptrace' or 'mprof' is expected");
}

static const struct option_def report_options[] = {
	{ "from", 'f', "FORMAT", "format of FILE, if not detected: ras|mtrc|mptl|monitor|tracker",
	  heapmon_take_from },
	{ "output", 'o', "FILE", "write to this file; '-' is standard output",
	  OPTION_PLACE(struct request, out) },
	{ "section", 's', "NAME", "print only this table; may be repeated: summary|"
	  "wrong|live|peak|allocated|temporary|sizes|time|types|threads|tags",
	  take_section },
	{ "top", 'n', "N", "print N rows of a table (10; 0: all)", take_top },
	{ "depth", 'd', "N", "print N frames of a stack (0: all)", report_take_depth },
	{ "min-age", 0, "SECONDS",
	  "live: only stacks with a block that is older", take_min_age },
	{ "diff", 0, NULL, "compare two files, also with --html",
	  OPTION_PLACE(struct request, diff) },
	{ "html", 0, NULL, "write a page with flame graphs", take_html },
	{ "json", 0, NULL, "print all data as JSON", report_take_json },
	{ "style", 0, "STYLE", "print the tables of this mpatrol tool: mptrace|mprof",
	  take_style },
	{ "verbose", 'v', NULL, "mptrace: also a line for each event; mprof: "
	  "also the call graph", OPTION_PLACE(struct request, verbose) },
	{ "source", 0, NULL, "mptrace: also the source line of each event",
	  OPTION_PLACE(struct request, source) },
	{ "addresses", 'a', NULL, "mprof: by call site, not by function",
	  OPTION_PLACE(struct request, addresses) },
	{ "counts", 'c', NULL, "mprof: sort by blocks, not by bytes",
	  OPTION_PLACE(struct request, counts) },
	{ "graph-file", 'g', "FILE", "mprof: also write the call graph, for dot(1)",
	  OPTION_PLACE(struct request, graph) },
	{ "leaks", 'l', NULL, "mprof: only blocks that were not freed, in the graph file",
	  OPTION_PLACE(struct request, leaks) },
	{ "bits", 0, "N", "word size of FILE, a memory tracker's stream: 32|64",
	  heapmon_take_bits },
	{ "endian", 0, "ORDER", "byte order of FILE, a memory tracker's stream: little|big",
	  heapmon_take_endian },
	HEAPMON_READ_OPTIONS,
	{ NULL }
};

/* ---- reading ---- */

/* A file, read to its end. */
struct subject {
	struct heap_reading reading;
	struct digest digest;
};

static void subject_close(struct subject *subject)
{
	digest_free(&subject->digest);
	reading_free(&subject->reading);
}

/* Read with a follower of its own, or the digest. -EBADMSG: what could be read
 * is there. subject_close() in any case. */
static int subject_read(struct subject *subject, const char *path,
			const struct request *request,
			const struct reading_follower *follower,
			struct error *err)
{
	const struct reading_follower own = { digest_step, &subject->digest };
	struct heap_reading *reading = &subject->reading;
	int ret, ended = 0;

	*subject = (struct subject){ 0 };
	digest_init(&subject->digest, &reading->trace);
	ret = reading_run(reading, path, &request->options, true,
			  follower ? follower : &own, err);
	if ((ret && ret != -EBADMSG) || follower)
		return ret;
	if (reading->sums)
		ended = digest_take_profile(&subject->digest,
					    &reading->profile, err);
	else
		ended = digest_end(&subject->digest, &reading->model, err);
	return ended ? ended : ret;
}

/* ---- forms ---- */

/* mpatrol's tables have no room for notes, and no weights. */
static void notes_print(struct heap_trace *trace)
{
	const struct digest of_trace = { .trace = trace };

	report_print_notes(stderr, PROGRAM ": note: ", &of_trace);
	if (trace->sample)
		fputs(PROGRAM ": note: but these tables are without weights\n",
		      stderr);
}

struct report {
	const struct request *request;
	FILE *out;
	struct subject subjects[2];	/* the second: of --diff */
	struct style_mptrace mptrace;
};

/* `graph`: the graph file; NULL: there is none. */
static int mprof_write(void *context, FILE *graph, struct error *err)
{
	const struct report *report = context;
	const struct request *request = report->request;
	const struct style_mprof_options options = {
		.addresses = request->addresses, .counts = request->counts,
		.call_graph = request->verbose, .graph = graph,
		.leaks = request->leaks,
		.depth = request->depth_given ? request->settings.depth : 1,
	};

	return style_mprof_print(report->out,
				 &report->subjects[0].reading.profile,
				 &options, err);
}

static int form_print(struct report *report, struct error *err)
{
	const struct request *request = report->request;
	struct heap_trace *trace = &report->subjects[0].reading.trace;
	const struct digest *digest = &report->subjects[0].digest;
	const struct subject *second = &report->subjects[1];
	int ret = 0;

	switch (request->form) {
	case FORM_MPTRACE:
		style_mptrace_end(&report->mptrace, trace);
		notes_print(trace);
		return 0;
	case FORM_MPROF:
		ret = request->graph ?
			heapmon_write_output(request->graph, request->paths, 1,
					     mprof_write, report, err) :
			mprof_write(report, NULL, err);
		notes_print(trace);
		return ret;
	case FORM_JSON:
		return report_print_json(report->out, digest, err);
	case FORM_FLAME:
		return request->diff ?
			report_print_flame(report->out, &second->digest,
					   digest, err) :
			report_print_flame(report->out, digest, NULL, err);
	case FORM_TABLES:
		break;
	}
	if (request->diff)
		return report_print_difference(report->out, digest,
					       &second->digest,
					       &request->settings, err);
	return report_print_tables(report->out, digest, &request->settings,
				   err);
}

static int report_write(void *context, FILE *out, struct error *err)
{
	const struct request *request = context;
	struct report report = {
		.request = request, .out = out,
		.mptrace = {
			.out = out, .verbose = request->verbose,
			.source = request->source,
		},
	};
	const struct reading_follower follower = {
		style_mptrace_step, &report.mptrace,
	};
	bool mptrace = request->form == FORM_MPTRACE;
	int files = request->diff ? 2 : 1, read = 0;
	int ret = 0, one, printed = 0;

	for (; read < files && !heapmon_fatal(ret); read++) {
		one = subject_read(&report.subjects[read], request->paths[read],
				   request, mptrace ? &follower : NULL, err);
		if (one)
			ret = one;
	}
	if (!ret && mptrace && report.subjects[0].reading.sums)
		ret = error_set(err, -EINVAL, "'%s' has sums only: mptrace's tables are made of events",
				request->paths[0]);
	if (!heapmon_fatal(ret))
		printed = form_print(&report, err);
	style_mptrace_free(&report.mptrace);
	while (read)
		subject_close(&report.subjects[--read]);
	return printed ? printed : ret;
}

static int report_run(int argc, char **argv)
{
	struct request request = {
		.options.bounds = HEAP_BOUNDS_DEFAULT, .out = "-",
		.settings.top = TOP_DEFAULT,
	};
	struct error err = { 0 };
	int status, ret, operands;
	int first = command_parse(&heapmon_report, argc, argv, 1, 2, &request,
				  &status);

	if (first < 0)
		return status;
	if (request.diff && request.form != FORM_TABLES &&
	    request.form != FORM_FLAME) {
		fputs(PROGRAM ": report: --diff is of the tables, and of --html\n",
		      stderr);
		return COMMAND_MISUSE;
	}
	operands = request.diff ? 2 : 1;
	if (argc - first != operands) {
		fprintf(stderr, PROGRAM ": report: %s\n",
			operands == 2 ? "--diff takes two files" :
			request.form == FORM_FLAME ?
			"--html has no argument: name the page with -o" :
			"two files are for --diff");
		return COMMAND_MISUSE;
	}
	if ((request.graph || request.leaks) && request.form != FORM_MPROF) {
		fputs(PROGRAM ": report: --graph-file and --leaks are of --style=mprof\n",
		      stderr);
		return COMMAND_MISUSE;
	}
	if (!request.settings.sections)
		request.settings.sections = ALL_SECTIONS;
	request.paths = argv + first;
	ret = heapmon_write_output(request.out, request.paths, operands,
				   report_write, &request, &err);
	free(request.options.symbols);
	return command_end(ret, &err);
}

const struct command heapmon_report = {
	.def = {
		.program = PROGRAM,
		.name = "report",
		.operands = "FILE [FILE]",
		.help = "report the blocks on a heap, its peak, and errors",
		.options = report_options,
	},
	.run = report_run,
};

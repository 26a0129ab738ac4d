// SPDX-License-Identifier: GPL-2.0
/* tracefmt: print the records of a .ras file, or of the live buffer. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "../lib/options.h"
#include "../lib/pin.h"
#include "../lib/snapshot.h"
#include "show.h"

#define PROGRAM		"tracefmt"

struct settings {
	char **tffs;
	size_t tff_count;
	struct show show;
};

static int take_tff(void *context, const char *value)
{
	struct settings *s = context;

	s->tffs[s->tff_count++] = (char *)value;
	return 0;
}

#define TAKE_FLAG(name, field) \
	static int take_##name(void *context, const char *value) \
	{ \
		((struct settings *)context)->field = true; \
		return 0; \
	}

TAKE_FLAG(strict, show.strict)
TAKE_FLAG(force, show.force)
TAKE_FLAG(utc, show.print.utc)
TAKE_FLAG(relative, show.print.relative)
TAKE_FLAG(hex, show.print.hex)
TAKE_FLAG(verbose, show.print.verbose)
TAKE_FLAG(summary, show.summary_only)
TAKE_FLAG(no_summary, show.quiet)

static const struct option_def options[] = {
	{ "tff", 't', "DIR", "look for TFFs here first; or one TFF; repeatable",
	  take_tff },
	{ "strict", 0, NULL, "exit 1 when a record has no matching TFF entry",
	  take_strict },
	{ "force", 'f', NULL, "use a TFF entry though its data hash differs",
	  take_force },
	{ "utc", 'u', NULL, "print times in UTC", take_utc },
	{ "relative", 'r', NULL, "print times since the first record",
	  take_relative },
	{ "hex", 'x', NULL, "print each record's data in hex too", take_hex },
	{ "verbose", 'v', NULL, "show data that the format leaves over",
	  take_verbose },
	{ "summary", 's', NULL, "print the figures only", take_summary },
	{ "no-summary", 'q', NULL, "leave the figures out", take_no_summary },
	{ NULL },
};

static const struct command_def command = {
	.program = PROGRAM,
	.operands = "[FILE.ras | -]",
	.help = "print trace records, of the live buffer when no file is named",
	.options = options,
};

/* A live buffer is read as if it were a file. */
static int trace_open(struct trace_file *file, const char *path,
		      struct error *err)
{
	size_t size;
	void *data;
	int code;

	if (path)
		return trace_file_open(file, path, err);
	code = snapshot_take(pin_run(), &data, &size, err);
	return code ? code :
	       trace_file_open_memory(file, data, size, "the buffer", err);
}

static int tffs_add(struct search *search, const struct settings *settings,
		    struct error *err)
{
	for (size_t i = 0; i < settings->tff_count; i++) {
		int code = search_add(search, settings->tffs[i], err);

		if (code)
			return code;
	}
	search_add_environment(search);
	return 0;
}

/* What stdio holds has arrived; else 1. */
static int output_finish(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	perror(PROGRAM ": cannot print");
	return 1;
}

static int trace_run(struct settings *settings, const char *path)
{
	struct search search = { 0 };
	struct trace_file file;
	struct error err = { 0 };
	int status = 1;

	if (trace_open(&file, path, &err)) {
		error_print(PROGRAM, &err);
		return 1;
	}
	if (tffs_add(&search, settings, &err))
		error_print(PROGRAM, &err);
	else
		status = show_trace(&settings->show, &file, &search);
	if (output_finish())
		status = 1;
	search_free(&search);
	trace_file_free(&file);
	return status;
}

int main(int argc, char **argv)
{
	struct settings settings = { 0 };
	int first, status;

	settings.tffs = calloc(argc, sizeof(*settings.tffs));
	if (!settings.tffs) {
		fputs(PROGRAM ": out of memory\n", stderr);
		return 1;
	}
	first = options_parse(&command, argc, argv, false, &settings);
	if (first == OPTIONS_DONE) {
		status = output_finish();
	} else if (first == OPTIONS_WRONG) {
		status = 2;
	} else if (argc - first > 1) {
		fputs(PROGRAM ": one file at a time\n", stderr);
		status = 2;
	} else {
		status = trace_run(&settings, argv[first]);
	}
	free(settings.tffs);
	return status;
}

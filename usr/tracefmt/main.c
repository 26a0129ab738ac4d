// SPDX-License-Identifier: GPL-2.0
/* tracefmt: print the records of a .ras file, or of the live buffer. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../lib/options.h"
#include "../lib/pin.h"
#include "../lib/snapshot.h"
#include "merge.h"
#include "print.h"
#include "search.h"
#include "sequence.h"
#include "summary.h"

#define PROGRAM		"tracefmt"
#define SYSTEM_TFFS	"/usr/lib/rastrace"

struct settings {
	char **tffs;
	size_t tff_count;
	bool strict, force, summary_only, quiet;
	struct print print;
};

struct outcome {
	uint64_t unmatched;	/* records printed in hex for want of a TFF */
	int error;		/* negative errno, 0 */
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

TAKE_FLAG(strict, strict)
TAKE_FLAG(force, force)
TAKE_FLAG(utc, print.utc)
TAKE_FLAG(relative, print.relative)
TAKE_FLAG(hex, print.hex)
TAKE_FLAG(verbose, print.verbose)
TAKE_FLAG(summary, summary_only)
TAKE_FLAG(no_summary, quiet)

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

/* ---- reading ---- */

static int trace_read(struct trace_file *file, const char *path,
		      struct error *err)
{
	size_t size;
	void *data;
	int code;

	if (path)
		return trace_file_read(file, path, err);
	code = snapshot_take(pin_run(), &data, &size, err);
	return code ? code :
	       trace_file_parse(file, data, size, "the buffer", err);
}

/* Directories that need not be there. */
static void search_try(struct search *search, const char *path)
{
	search_add(search, path, NULL);
}

/* TRACEFMT_PATH: directories, separated by colons */
static void search_environment(struct search *search)
{
	const char *value = getenv("TRACEFMT_PATH");
	char *list = value ? strdup(value) : NULL, *rest = list, *path;

	while (list && (path = strsep(&rest, ":")))
		if (*path)
			search_try(search, path);
	free(list);
}

/* Where the TDFs lie; one after the other often in the same place. */
static void search_sessions(struct search *search,
			    const struct trace_file *file)
{
	char last[sizeof(file->sessions->tdf)] = "";

	for (size_t i = 0; i < file->session_count; i++) {
		char directory[sizeof(last)];
		char *slash;

		strcpy(directory, file->sessions[i].tdf);
		slash = strrchr(directory, '/');
		if (!slash)
			continue;
		slash[slash == directory] = '\0';
		if (strcmp(directory, last))
			search_try(search, directory);
		strcpy(last, directory);
	}
}

static int search_all(struct search *search, const struct settings *settings,
		      const struct trace_file *file, struct error *err)
{
	for (size_t i = 0; i < settings->tff_count; i++) {
		int code = search_add(search, settings->tffs[i], err);

		if (code)
			return code;
	}
	search_environment(search);
	search_sessions(search, file);
	search_try(search, ".");
	search_try(search, SYSTEM_TFFS);
	return 0;
}

/* ---- printing ---- */

static int records_print(const struct settings *settings, struct print *print,
			 struct merge *merge, struct match *match,
			 struct sequences *sequences, struct outcome *outcome)
{
	const struct ras_record *record;
	struct trace_slice *slice;

	while ((record = merge_next(merge, &slice))) {
		struct match_point *point = match_record(match, record);

		if (!point || sequence_see(sequences, point, slice, record))
			return -ENOMEM;
		if (!print->records++)
			print->start = record->time;
		point->present++;
		outcome->unmatched += !point->formatted;
		if (settings->summary_only)
			continue;
		if (print_record(print, point, record, slice->damaged))
			return -ENOMEM;
		if (print->text->error)
			return -print->text->error;
	}
	return 0;
}

static void damage_print(const struct damage *damage)
{
	for (size_t i = 0; i < damage->count && i < DAMAGE_LINES; i++)
		fprintf(stderr, PROGRAM ": lost or damaged: %s\n",
			damage->lines[i]);
	if (damage->count > DAMAGE_LINES)
		fprintf(stderr, PROGRAM ": and %zu more places\n",
			damage->count - DAMAGE_LINES);
}

/* What must be said behind the records; the exit status. */
static int outcome_tell(const struct settings *settings,
			const struct outcome *outcome, struct trace_file *file)
{
	bool strict = settings->strict && outcome->unmatched;

	damage_print(&file->damage);
	if (outcome->unmatched)
		fprintf(stderr, PROGRAM ": %llu records without a matching TFF entry%s\n"
			PROGRAM ": name the directory of their TFF with --tff DIR\n",
			(unsigned long long)outcome->unmatched,
			settings->summary_only ? "" : " are shown in hex");
	return strict || file->damage.count ? 1 : 0;
}

static int trace_print(struct settings *settings, struct trace_file *file,
		       struct match *match, struct outcome *outcome)
{
	struct print *print = &settings->print;
	struct sequences sequences;
	struct merge merge;
	struct text text;
	int code, written;

	if (text_open(&text, STDOUT_FILENO))
		return -ENOMEM;
	print->text = &text;
	print->wall_offset = file->header.wall_offset;
	sequence_open(&sequences, file);
	code = merge_open(&merge, file);
	if (!code) {
		code = records_print(settings, print, &merge, match,
				     &sequences, outcome);
		merge_close(&merge);
	}
	sequence_close(&sequences);
	written = text_close(&text);
	trace_file_finish(file);
	return code ? code : written;
}

/* What stdio holds has arrived; else 1. */
static int output_finish(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	perror(PROGRAM ": cannot print");
	return 1;
}

static int trace_show(struct settings *settings, struct trace_file *file,
		      struct search *search)
{
	struct outcome outcome = { 0 };
	struct match match;
	int code, status;

	if (match_open(&match, file, search, settings->force)) {
		fputs(PROGRAM ": out of memory\n", stderr);
		return 1;
	}
	code = trace_print(settings, file, &match, &outcome);
	if (code)
		fprintf(stderr, PROGRAM ": cannot print: %s\n",
			strerror(-code));
	status = outcome_tell(settings, &outcome, file);
	if (!code && (!settings->quiet || settings->summary_only))
		summary_print(settings->summary_only ? stdout : stderr, file,
			      &match, &settings->print);
	match_close(&match);
	if (!code && output_finish())
		code = -EIO;
	return code ? 1 : status;
}

static int trace_run(struct settings *settings, const char *path)
{
	struct search search = { 0 };
	struct trace_file file;
	struct error err = { 0 };
	int status = 1;

	if (trace_read(&file, path, &err)) {
		error_print(PROGRAM, &err);
		return 1;
	}
	if (search_all(&search, settings, &file, &err))
		error_print(PROGRAM, &err);
	else
		status = trace_show(settings, &file, &search);
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

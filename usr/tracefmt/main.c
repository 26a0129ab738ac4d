// SPDX-License-Identifier: GPL-2.0
/* tracefmt: print the records of .ras files, or of the live buffer. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/options.h"
#include "live.h"
#include "settings.h"
#include "show.h"
#include "vmcore.h"

#define PROGRAM		"tracefmt"

static int trace_file(const struct show_settings *settings, struct trace *trace,
		      const char *path, struct error *err)
{
	if (path && path == settings->vmcore)
		return vmcore_trace_open(&trace->file, path, err);
	if (path)
		return trace_file_open(&trace->file, path, err);
	return settings->follow ? live_follow(&trace->file, err) :
				  live_open(&trace->file, err);
}

/* 0, or the exit status after a message. */
static int trace_open(const struct show_settings *settings,
		      struct stream *stream, const char *path)
{
	struct trace *trace = stream_add(stream, path ? path : "the buffer");
	struct error err = { 0 };

	if (!trace) {
		fputs(PROGRAM ": out of memory\n", stderr);
		return 1;
	}
	if (!trace_file(settings, trace, path, &err)) {
		if (!settings->follow || trace->file.source.pipe)
			return 0;
		fprintf(stderr, PROGRAM ": --follow: '%s' is a file, which has an end\n"
			PROGRAM ": follow the live buffer, or a pipe: trace spool --follow | tracefmt --follow -\n",
			trace->name);
		return 2;
	}
	error_print(PROGRAM, &err);
	stream_drop(stream);
	return 1;
}

/* Those that can be opened; 0, or the exit status when any could not. */
static int traces_open(const struct show_settings *settings,
		       struct stream *stream, char **paths)
{
	int status = 0, code;

	if (settings->vmcore)
		status = trace_open(settings, stream, settings->vmcore);
	else if (!*paths)
		return trace_open(settings, stream, NULL);
	for (; *paths; paths++) {
		code = trace_open(settings, stream, *paths);
		if (code > status)
			status = code;
	}
	return status;
}

static int tffs_add(struct search *search, const struct show_settings *settings)
{
	struct error err = { 0 };

	for (size_t i = 0; i < settings->tff_count; i++)
		if (search_add(search, settings->tffs[i], &err)) {
			error_print(PROGRAM, &err);
			return 1;
		}
	search_add_environment(search);
	return 0;
}

/* What is asked for by name is there. */
static int symbols_check(const struct symbols_settings *symbols)
{
	int code = 0;

	for (size_t i = 0; i < symbols->dir_count; i++) {
		if (!access(symbols->dirs[i], R_OK))
			continue;
		fprintf(stderr, PROGRAM ": cannot read '%s': %s\n",
			symbols->dirs[i], strerror(errno));
		code = 1;
	}
	return code;
}

/* What stdio holds has arrived; else 1. */
static int output_finish(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	perror(PROGRAM ": cannot print");
	return 1;
}

static int traces_run(struct show_settings *settings, char **paths)
{
	struct search search = { 0 };
	struct stream stream;
	int status;

	stream_open(&stream, &search, settings->force);
	status = traces_open(settings, &stream, paths);
	if (tffs_add(&search, settings) | symbols_check(&settings->symbols))
		status = status ? status : 1;
	if (status < 2 && stream.count && show_stream(settings, &stream))
		status = 1;
	stream_close(&stream);
	search_free(&search);
	return status;
}

int main(int argc, char **argv)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_WRONLY };
	struct show_settings settings;
	int first, status;

	/* No file takes the place of what was closed. Reading standard input
	 * and writing standard output fail all the same. */
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) < 0)
			break;

	first = settings_parse(&settings, argc, argv);
	if (first == OPTIONS_DONE)
		status = output_finish();
	else if (first == OPTIONS_WRONG)
		status = 2;
	else
		status = traces_run(&settings, argv + first);
	settings_free(&settings);
	return status;
}

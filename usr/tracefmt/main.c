// SPDX-License-Identifier: GPL-2.0
/* tracefmt: print the records of .ras files, or of the live buffer. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/dump/vmcore_picture.h"
#include "lib/options.h"
#include "tracefmt/output/diff.h"
#include "live.h"
#include "settings.h"
#include "show.h"

/* The buffer in a memory dump, read as if it were a file. 0, or a negative errno
 * with err set. */
static int vmcore_trace_open(struct trace_file *file, const char *path,
			     struct error *err)
{
	struct chunk_memory memory = { 0 };
	struct vmcore_losses losses;
	int code = vmcore_picture_take(path, &memory, &losses, err);

	if (code) {
		free(memory.data);
		return code;
	}
	code = trace_file_open_memory(file, memory.data, memory.size, path,
				      err);
	if (!code && losses.cut)
		damage_add(&file->damage,
			   "the dump, which was cut short");
	if (!code && losses.damaged)
		damage_add(&file->damage,
			   "pages of the dump that can't be unpacked");
	if (!code && losses.slices)
		damage_add(&file->damage,
			   "%u slices of the buffer, whose control words are damaged",
			   losses.slices);
	return code;
}

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

/* Of --diff: one trace is old, the other new. */
static int diff_run(struct show_settings *settings, char **paths)
{
	struct search search = { 0 };
	struct stream old, new;
	int status = 0;

	if (settings->vmcore || settings->follow || !*paths || !paths[1] ||
	    paths[2]) {
		fputs(PROGRAM ": --diff: two files are wanted: --diff OLD.ras NEW.ras\n",
		      stderr);
		return 2;
	}
	stream_open(&old, &search, settings->force);
	stream_open(&new, &search, settings->force);
	status = trace_open(settings, &old, paths[0]) |
		 trace_open(settings, &new, paths[1]);
	if (tffs_add(&search, settings) | symbols_check(&settings->symbols))
		status = 1;
	if (!status)
		status = show_diff(settings, &old, &new);
	stream_close(&old);
	stream_close(&new);
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
		status = error_check_stdout(PROGRAM, "cannot print");
	else if (first == OPTIONS_WRONG)
		status = 2;
	else if (settings.format == &output_diff)
		status = diff_run(&settings, argv + first);
	else
		status = traces_run(&settings, argv + first);
	settings_free(&settings);
	return status;
}

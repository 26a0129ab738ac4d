// SPDX-License-Identifier: GPL-2.0
/*
 * --format=ctf: a directory in the Common Trace Format 1.8, for babeltrace2 and
 * Trace Compass; of several traces a directory with one for each.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/outfile.h"
#include "ctf_trace.h"
#include "tracefmt/output/output.h"

struct ctf {
	int dir;
	struct ctf_trace *traces;	/* one for each of the stream's */
	size_t count;
	bool whole;
};

static int path_set_error(const struct output *output, int code,
			  struct error *err)
{
	return error_set(err, code, "cannot write '%s': %s",
			 output->settings->path, strerror(-code));
}

static int ctf_open(struct output *output, struct text *text,
		    struct error *err)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));
	size_t count = output->stream->count;
	const char *path;
	int code;

	if (!ctf)
		return -ENOMEM;
	output->own = ctf;
	ctf->dir = -1;
	ctf->traces = calloc(count, sizeof(*ctf->traces));
	if (!ctf->traces)
		return -ENOMEM;
	for (; ctf->count < count; ctf->count++) {
		struct ctf_trace *trace = &ctf->traces[ctf->count];

		trace->metadata = trace->streams.dir = -1;
		trace->classes.hex = output->settings->hex;
	}
	path = output->settings->path;
	if (mkdir(path, 0777)) {
		code = path_set_error(output, -errno, err);
		if (code == -EEXIST)
			error_hint(err, "name a directory that isn't there yet");
		return code;
	}
	ctf->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return ctf->dir < 0 ? path_set_error(output, -errno, err) : 0;
}

/* The directory itself of a single trace, else trace1, trace2 ... in it. */
static int trace_dir(const struct ctf *ctf, uint32_t index)
{
	char name[32];
	int dir;

	if (ctf->count == 1)
		strcpy(name, ".");
	else
		sprintf(name, "trace%u", index + 1);
	if (ctf->count > 1 && mkdirat(ctf->dir, name, 0777))
		return -errno;
	dir = openat(ctf->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -errno : dir;
}

static int ctf_begin_trace(struct ctf *ctf, const struct trace *trace)
{
	struct ctf_trace *own = &ctf->traces[trace->index];
	int dir;

	if (own->metadata >= 0)
		return 0;
	dir = trace_dir(ctf, trace->index);
	return dir < 0 ? dir : ctf_trace_begin(own, trace, dir);
}

static int ctf_event(struct output *output, const struct event *event,
		     struct text *text, struct scratch *scratch)
{
	struct ctf *ctf = output->own;
	int code = ctf_begin_trace(ctf, event->trace);

	return code ? code :
	       ctf_trace_event(&ctf->traces[event->trace->index], event,
			       scratch, output->settings->symbols);
}

/* A trace without an event has its metadata, too. */
static int ctf_close(struct output *output, struct text *text,
		     struct error *err)
{
	struct ctf *ctf = output->own;
	int code = 0;

	for (size_t i = 0; i < ctf->count && !code; i++) {
		const struct trace *trace = output->stream->traces[i];

		code = ctf_begin_trace(ctf, trace);
		if (!code)
			code = ctf_trace_finish(&ctf->traces[i], trace);
	}
	ctf->whole = !code;
	return code ? path_set_error(output, code, err) : 0;
}

static void dir_empty(int fd);

static void ctf_entry_remove(int dir, const char *name, void *context)
{
	if (!unlinkat(dir, name, 0))
		return;
	dir_empty(openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	unlinkat(dir, name, AT_REMOVEDIR);
}

/* What was written into it, which is files and directories of files. */
static void dir_empty(int fd)
{
	directory_each(fd, ctf_entry_remove, NULL);
	close(fd);
}

static void ctf_free(struct output *output)
{
	struct ctf *ctf = output->own;

	if (!ctf)
		return;
	for (size_t i = 0; i < ctf->count; i++)
		ctf_trace_free(&ctf->traces[i]);
	if (ctf->dir >= 0 && ctf->whole) {
		close(ctf->dir);
	} else if (ctf->dir >= 0) {
		dir_empty(ctf->dir);
		rmdir(output->settings->path);
	}
	free(ctf->traces);
	free(ctf);
}

const struct output_ops output_ctf = {
	.name = "ctf",
	.in_order = true,
	.whole = true,
	.open = ctf_open,
	.event = ctf_event,
	.close = ctf_close,
	.free = ctf_free,
};

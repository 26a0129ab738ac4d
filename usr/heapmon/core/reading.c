// SPDX-License-Identifier: GPL-2.0
#include "reading.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/text.h"

#define PROGRAM		"heapmon"
#define HEAD		65536	/* bytes by which its format is known */
#define READ_STEP	(1u << 20)
#define WARNINGS_MOST	20	/* printed for a file */

const struct heap_format *const heap_formats[] = {
	&format_ras, &format_mtrc, &format_mptl, &format_monitor,
	&format_tracker, &format_pprof, &format_collapsed, &format_massif,
	&format_heaptrack, NULL
};

const struct heap_format *heap_format_find(const char *name)
{
	for (size_t i = 0; heap_formats[i]; i++)
		if (!strcmp(heap_formats[i]->name, name))
			return heap_formats[i];
	return NULL;
}

/* By its content; NULL: none fits. */
static const struct heap_format *heap_format_detect(const uint8_t *data,
						    size_t size)
{
	const struct heap_format *best = NULL;
	int most = 0;

	for (size_t i = 0; heap_formats[i]; i++) {
		int sure = heap_formats[i]->detect ?
			heap_formats[i]->detect(data, size) : 0;

		if (sure > most) {
			most = sure;
			best = heap_formats[i];
		}
	}
	return best;
}

struct reading_state {
	struct heap_reading *reading;
	const struct heap_options *options;
	bool profile;			/* it is wanted */
	const struct reading_follower *follower;
	const char *path;
	int fd;
	struct stat st;
	uint8_t *data;			/* what was read of it */
	size_t size, room;
	unsigned int warnings;
	bool no_pids, met;		/* met: the process asked for */
};

/* ---- the file ---- */

static int read_failed(const struct reading_state *run, int code,
		       struct error *err)
{
	return error_set(err, code, "cannot read '%s': %s", run->path,
			 strerror(-code));
}

/* Up to `most` bytes in all; 0 or a negative errno with err set. */
static int reading_bytes_read(struct reading_state *run, size_t most,
			      struct error *err)
{
	while (run->size < most) {
		size_t want = most - run->size;
		uint8_t *grown;
		ssize_t n;

		if (run->size == run->room) {
			run->room += run->room / 2 + READ_STEP;
			grown = realloc(run->data, run->room);
			if (!grown)
				return read_failed(run, -ENOMEM, err);
			run->data = grown;
		}
		if (want > run->room - run->size)
			want = run->room - run->size;
		n = read(run->fd, run->data + run->size, want);
		if (!n)
			return 0;
		if (n < 0 && errno != EINTR)
			return read_failed(run, -errno, err);
		run->size += n > 0 ? n : 0;
	}
	return 0;
}

/* A device may have no end. A terminal has one: its user types it. */
static int reading_kind_check(const struct reading_state *run,
			      struct error *err)
{
	mode_t mode = run->st.st_mode;

	if (S_ISDIR(mode))
		return read_failed(run, -EISDIR, err);
	if (!S_ISBLK(mode) && (!S_ISCHR(mode) || isatty(run->fd)))
		return 0;
	error_set(err, -EINVAL, "cannot read '%s': it is a device", run->path);
	error_hint(err, "a trace is a file, or comes through a pipe");
	return -EINVAL;
}

static int format_choose(struct reading_state *run, struct error *err)
{
	const struct heap_format *format = run->options->from;

	if (!format)
		format = heap_format_detect(run->data, run->size);
	run->reading->format = format;
	if (!format) {
		error_set(err, -EINVAL, "'%s' is in no format that is known",
			  run->path);
		error_hint(err, "--from names the format, when there is "
			   "nothing in it to know it by");
		return -EINVAL;
	}
	if ((run->options->bits || run->options->endian) &&
	    format != &format_tracker)
		return error_set(err, -EINVAL, "'%s' is in the format '%s': of what is read, bits and endian can be given for '%s' only",
				 run->path, format->name, format_tracker.name);
	if (!format->read_events && !format->read_profile)
		return error_set(err, -EINVAL, "files in the format '%s' can "
				 "be written, but not read", format->name);
	/* What doesn't begin as its format does isn't read to its end, which it
	 * may not have. */
	if (!S_ISREG(run->st.st_mode) && run->size >= HEAD &&
	    !format->detect(run->data, run->size))
		return error_set(err, -EINVAL, "'%s' doesn't begin like a file "
				 "in the format '%s'", run->path, format->name);
	return 0;
}

static int rest_read(struct reading_state *run, struct error *err)
{
	/* a file that is as large can't be taken into memory as a whole */
	uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) *
			sysconf(_SC_PAGESIZE) / 2;
	bool more = S_ISREG(run->st.st_mode) &&
		    (uint64_t)run->st.st_size > most;
	int ret = more ? 0 : reading_bytes_read(run, most, err);

	if (ret || (!more && run->size < most))
		return ret;
	return error_set(err, -EFBIG, "cannot read '%s': it has more than %"
			 PRIu64 " MiB, half of this machine's memory",
			 run->path, most >> 20);
}

/* Its first bytes say what it is. Then all of it is read, but of a .ras file on a
 * disk. 0, with `input` set up; or a negative errno with err set. */
static int reading_file_read(struct reading_state *run,
			     struct heap_input *input, struct error *err)
{
	int ret = fstat(run->fd, &run->st) ? read_failed(run, -errno, err) :
					     reading_kind_check(run, err);

	if (!ret)
		ret = reading_bytes_read(run, HEAD, err);
	if (!ret)
		ret = format_choose(run, err);
	if (ret || (S_ISREG(run->st.st_mode) && strcmp(run->path, "-") &&
		    run->reading->format == &format_ras))
		return ret;
	ret = rest_read(run, err);
	input->data = run->data;
	input->size = run->size;
	return ret;
}

/* ---- events ---- */

static void reading_warn(void *context, const char *text)
{
	struct reading_state *run = context;

	if (run->warnings++ >= WARNINGS_MOST)
		return;
	fputs(PROGRAM ": '", stderr);
	safe_text_print(stderr, run->path, false);
	fputs("': ", stderr);
	safe_text_print(stderr, text, true);
	fputc('\n', stderr);
}

/* Is it of the process that was asked for? */
static bool run_wants(struct reading_state *run, const struct heap_event *event)
{
	uint32_t pid = run->options->pid;

	if (!pid || event->kind == HEAP_LOSS)
		return true;
	if (event->pid == pid)
		return run->met = true;
	if (!event->pid)
		run->no_pids = true;
	return false;
}

static int run_take(void *context, const struct heap_event *event,
		    struct error *err)
{
	struct reading_state *run = context;
	struct heap_reading *reading = run->reading;
	struct heap_step step;

	if (!run_wants(run, event))
		return 0;
	heap_trace_widen(&reading->trace, event->time);
	if (heap_model_apply(&reading->model, event, &step))
		return error_no_memory(err);
	if (step.cache)
		return 0;
	if (run->profile && heap_profile_take(&reading->profile, &step))
		return error_no_memory(err);
	if (!run->follower)
		return 0;
	return run->follower->step(run->follower->context, &reading->model,
				   &step, err);
}

/* ---- reading ---- */

static int run_events(struct reading_state *run, struct heap_input *input,
		      struct error *err)
{
	struct heap_sink sink = { .take = run_take, .context = run };
	int ret = run->reading->format->read_events(input, &sink, err);

	if (run->no_pids)
		reading_warn(run, "it doesn't say which process its events are of: "
			 "they are left out");
	else if (run->options->pid && !run->met)
		reading_warn(run, "nothing in it is of that process");
	return ret;
}

static int run_format(struct reading_state *run, struct heap_input *input,
		      struct error *err)
{
	struct heap_reading *reading = run->reading;
	const struct heap_trace *trace = &reading->trace;
	int ret;

	reading->sums = !reading->format->read_events;
	if (reading->sums)
		ret = reading->format->read_profile(input, &reading->profile,
						    err);
	else
		ret = run_events(run, input, err);
	if (run->warnings > WARNINGS_MOST)
		fprintf(stderr, PROGRAM ": ... and %u more like that\n",
			run->warnings - WARNINGS_MOST);
	heap_profile_peak(&reading->profile);
	if (!ret && (trace->failed || trace->strings.failed))
		return error_no_memory(err);
	return ret;
}

static int reading_open(struct reading_state *run, struct heap_input *input,
			struct error *err)
{
	bool pipe = !strcmp(run->path, "-");
	int ret;

	if (run->options->run) {
		run->reading->format = &format_ras;
		return 0;
	}
	run->fd = pipe ? STDIN_FILENO : open(run->path, O_RDONLY | O_CLOEXEC);
	if (run->fd < 0)
		return read_failed(run, -errno, err);
	ret = reading_file_read(run, input, err);
	if (!pipe)
		close(run->fd);
	return ret;
}

int reading_run(struct heap_reading *reading, const char *path,
		const struct heap_options *options, bool profile,
		const struct reading_follower *follower, struct error *err)
{
	struct reading_state run = {
		.reading = reading, .options = options, .profile = profile,
		.follower = follower, .path = path,
	};
	struct heap_input input = {
		.path = path, .options = options, .trace = &reading->trace,
		.warn = reading_warn, .context = &run,
	};
	int ret;

	*reading = (struct heap_reading){ .format = options->from };
	heap_trace_init(&reading->trace);
	heap_model_init(&reading->model, &reading->trace);
	if (heap_profile_init(&reading->profile, &reading->trace,
			      &options->bounds))
		return error_no_memory(err);
	ret = reading_open(&run, &input, err);
	if (!ret)
		ret = run_format(&run, &input, err);
	free(run.data);
	return ret;
}

void reading_free(struct heap_reading *reading)
{
	heap_profile_free(&reading->profile);
	heap_model_free(&reading->model);
	heap_trace_free(&reading->trace);
}

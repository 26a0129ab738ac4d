// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/text.h"
#include "lib/buffer/session.h"
#include "perf_ring.h"
#include "recording.h"
#include "stopping.h"

#define BUFFER_BYTES	(16u << 20)	/* for each CPU */
#define BUFFER_LEAST	(1u << 20)
#define BUFFER_ALL	(512u << 20)	/* for all */
#define UNWIND_ROWS	(2u << 20)	/* 16 bytes each */
#define INTERVAL_MOST	50		/* ms: maps of short-lived processes */
#define PASSES_LAST	3		/* for what is under way at the end */

static int recording_write_failed(const struct recording *r, int code,
				  struct error *err)
{
	if (code == -ECANCELED)
		return stopping_check(err);
	if (r->spooler.files.cause) {
		error_set(err, code, "cannot write '%s': %s",
			  r->settings->output,
			  strerror(r->spooler.files.cause));
		error_hint(err, "%s",
			   spool_files_kept(&r->spooler.files));
	} else if (!err->text[0]) {
		error_set(err, code, "%s", strerror(-code));
	}
	return code;
}

/* ---- beginning ---- */

/* The number of a thread leads to its process, too, but isn't that one's. */
static int pid_check(uint32_t pid, struct error *err)
{
	char status[512] = "", *line;
	uint32_t process = pid;

	proc_read(pid, "status", status, sizeof(status) - 1);
	line = strstr(status, "\nTgid:");
	if (!line || sscanf(line, " Tgid: %u", &process) != 1 || process == pid)
		return 0;
	error_set(err, -ESRCH, "%u is a thread of process %u", pid, process);
	error_hint(err, "a process is recorded as a whole: --pid %u", process);
	return -ESRCH;
}

static int private_open(struct recording *r, struct error *err)
{
	struct job_settings job = r->settings->job;
	int code = run_dir_open(&r->common, true, err), cpus;

	if (code)
		return code;
	code = run_dir_open_private(&r->private, &r->common, err);
	run_dir_close(&r->common);
	if (code) {
		r->private.path[0] = '\0';
		return code;
	}
	cpus = bufmaps_cpus_possible();
	if (!job.bytes) {
		job.bytes = BUFFER_BYTES;
		while (cpus > 0 && job.bytes > BUFFER_LEAST &&
		       job.bytes * cpus > BUFFER_ALL)
			job.bytes /= 2;
	}
	return job_buffer_open(&r->buffer, &r->features, &r->private, &job,
			       err);
}

static int allocators_find(struct recording *r, struct error *err)
{
	const struct record_settings *settings = r->settings;
	const struct job_settings *job = &settings->job;
	char where[64];
	int code = 0;

	for (unsigned int i = 0; !code && i < job->pid_count; i++)
		code = allocator_add_process(&r->allocator, job->pids[i],
					     &settings->want, err);
	if (code || allocator_found(&r->allocator))
		return code;
	if (r->launch.pid)
		snprintf(where, sizeof(where), "'%.50s'", r->launch.argv[0]);
	else
		snprintf(where, sizeof(where), "process %u", job->pids[0]);
	code = allocator_missing(&settings->want, where, err);
	/* what it executes may have one */
	if (!r->launch.pid || !job->follow)
		return code;
	error_print("heapmon", err);
	*err = (struct error){ 0 };
	return 0;
}

/* Without tables stacks are followed by frame pointers. */
static int tables_open(struct recording *r, struct error *err)
{
	struct unwind_fds *fds = &r->unwind_fds;
	struct error why;

	if (!r->settings->points.depth)
		return 0;
	if (unwind_maps_make(fds, UNWIND_ROWS, false, &why) ||
	    unwind_open(&r->unwind, fds, &why)) {
		error_prefix(&why, "stacks by frame pointers only: ");
		error_print("heapmon", &why);
		return 0;
	}
	r->heap.rows_fd = fds->rows;
	r->heap.segments_fd = fds->segments;
	r->heap.spaces_fd = fds->spaces;
	r->heap.cache_fd = fds->cache;
	for (unsigned int i = 0; i < r->settings->job.pid_count; i++)
		if (unwind_add_process(r->unwind, r->settings->job.pids[i],
				       &why))
			r->unwind_failed = true;
	return r->settings->job.follow ? unwind_follow(r->unwind, err) : 0;
}

static int heap_begin(struct recording *r, struct error *err)
{
	const struct record_settings *settings = r->settings;
	bool chosen = settings->min_size || settings->sample;

	r->heap.min_size = settings->min_size;
	r->heap.sample = settings->sample;
	if (chosen && settings->job.follow)
		r->heap.owners_fd = sharing_owners_make(err);
	if (chosen && settings->job.follow && r->heap.owners_fd < 0)
		return r->heap.owners_fd;
	return heap_maps_make(&r->heap, err);
}

static int recording_tracker_begin(struct recording *r, struct error *err)
{
	const struct job_settings *job = &r->settings->job;
	int code = tracker_open(&r->tracker, job->follow, r->heap.owners_fd,
				err);

	for (unsigned int i = 0; !code && i < job->pid_count; i++)
		code = tracker_add(r->tracker, job->pids[i]);
	if (code && !err->text[0])
		error_set(err, code, "cannot follow the processes: %s",
			  strerror(-code));
	return code;
}

/* The file by which tracefmt prints it */
static int formats_write(struct recording *r, struct error *err)
{
	struct ras_formats head = { .name = "TRC00F7.TFF" };
	struct chunk_out *out = &r->spooler.others;
	size_t size;
	void *data;
	int code = points_make_tff(&r->settings->points, &data, &size, err);

	if (code)
		return code;
	chunk_begin(out);
	chunk_add(out, &head, sizeof(head));
	chunk_add(out, data, size);
	chunk_end(out, RAS_CHUNK_FORMATS);
	free(data);
	return 0;
}

/* From here on a signal is the program's first. */
static int program_continue(struct recording *r, struct error *err)
{
	int code;

	stopping_hold(true);
	code = stopping_check(err);
	if (!code)
		code = launch_continue(&r->launch, err);
	if (!code)
		stopping_program(r->launch.pid);
	stopping_hold(false);
	return code;
}

int recording_open(struct recording *r, const struct record_settings *settings,
		   struct error *err)
{
	const struct job_settings *job = &settings->job;
	int code;

	r->settings = settings;
	r->begun = buffer_time();
	r->heap = HEAP_MAPS_NONE;
	r->unwind_fds = UNWIND_FDS_NONE;
	signal(SIGPIPE, SIG_IGN);	/* write() fails instead */
	signal(SIGXFSZ, SIG_IGN);
	code = filters_check(job, err);
	for (unsigned int i = 0; !code && i < job->pid_count; i++)
		code = pid_check(job->pids[i], err);
	if (!code)
		code = private_open(r, err);
	if (!code)
		code = stopping_check(err);
	if (!code)
		code = allocators_find(r, err);
	if (!code)
		code = heap_begin(r, err);
	/* A process that runs may fork while it is probed, so follow it first. If
	 * the kernel reports more than is kept, /proc is read at the end. */
	if (!code && !r->launch.pid)
		code = recording_tracker_begin(r, err);
	if (code)
		return code;

	/* Probe the allocators. */
	r->link_pid = filters_link_pid(job, &r->features);
	code = tables_open(r, err);
	if (!code)
		code = arming_more(r, err);
	r->armed_first = r->armed;
	if (!code)
		code = stopping_check(err);
	if (!code && r->launch.pid)
		code = recording_tracker_begin(r, err);
	if (code)
		return code;

	/* Begin the file. */
	r->spooler = (struct spooler){
		.run = r->private.path, .own_maps = true,
		.whole = true,
		.interval_most = INTERVAL_MOST,
		.files = { .name = strcmp(settings->output, "-") ?
				   settings->output : NULL,
			   .files = 1, .fd = -1,
			   .stopped = stopping_asked },
	};
	r->spooling = true;
	code = spooler_open(&r->spooler, settings->pack, err);
	following_note(r, r->begun, RAS_HEAP_SETTINGS, 0, settings->sample,
		       settings->min_size);
	following_note(r, r->begun, RAS_HEAP_PAGE, 0, sysconf(_SC_PAGESIZE), 0);
	if (!code)
		code = formats_write(r, err);
	if (code)
		return recording_write_failed(r, code, err);

	for (unsigned int i = 0; !code && i < job->pid_count; i++) {
		code = following_add(r, job->pids[i], r->launch.pid, err);
		if (!code && !r->launch.pid && !settings->no_old)
			following_walk_old(r, job->pids[i]);
		/* The other processes run meanwhile: write what they did. */
		if (!code)
			code = spooler_pass(&r->spooler, err);
	}
	if (code)
		return code;
	code = following_update(r, err);
	r->tracker_lost = 0;
	return code ? code : program_continue(r, err);
}

/* ---- running ---- */

static int pass(struct recording *r, struct error *err)
{
	int code = following_update(r, err);

	if (code)
		return code;
	following_write_notes(r);
	return spooler_pass(&r->spooler, err);
}

int recording_run(struct recording *r, struct error *err)
{
	const uint64_t since = buffer_time(), most = r->settings->duration;
	struct pollfd fd = { .fd = tracker_fd(r->tracker), .events = POLLIN };
	bool over;
	int code;

	do {
		if (launch_poll(&r->launch))
			stopping_program(0);
		over = (most && buffer_time() - since >= most) ||
		       stopping_asked() || !tracker_live(r->tracker);
		code = pass(r, err);
		if (!code && !over)
			poll(&fd, 1, r->spooler.interval);
	} while (!code && !over);
	return code;
}

/* ---- the end ---- */

int recording_finish(struct recording *r, int code, struct error *err)
{
	struct error other = { 0 };
	int ended;

	if (!code)
		code = arming_off(r, err);
	for (int i = 0; !code && i < PASSES_LAST; i++)
		code = pass(r, err);
	launch_poll(&r->launch);
	if (!code) {
		following_write_notes(r);
		code = r->spooler.others.error;
	}
	ended = spooler_finish(&r->spooler, code, &other);
	if (!code && ended) {
		code = ended;
		*err = other;
	}
	return code ? recording_write_failed(r, code, err) : 0;
}

/* ---- what it came to ---- */

struct record_figures {
	uint64_t acquired, resized, released;
	uint64_t dropped, missed;
};

static void summary_point_sum(struct record_figures *figures, uint16_t minor,
			      const struct ras_count *rows, uint32_t slices)
{
	enum heap_function_kind kind =
		minor < HEAP_FUNCTIONS ? heap_functions[minor].kind :
					 FUNCTION_ABSENT;
	uint64_t recorded = 0;

	for (uint32_t i = 0; i < slices; i++) {
		recorded += rows[i].recorded;
		figures->dropped += rows[i].dropped;
	}
	switch (kind) {
	case FUNCTION_ABSENT:
		break;
	case FUNCTION_RESIZE:
		figures->resized += recorded;
		break;
	case FUNCTION_RELEASE:
	case FUNCTION_UNMAP:
		figures->released += recorded;
		break;
	default:
		figures->acquired += recorded;
	}
}

static void session_sum(struct recording *r, struct record_figures *figures,
			const struct session *session)
{
	uint32_t slices = r->buffer.slices, points = session->entry->points;
	struct ras_count *rows;
	uint64_t *missed;

	if (session_counts_read(session, slices, &rows, NULL))
		return;
	for (uint32_t i = 0; i < points; i++)
		summary_point_sum(figures, session->points[i].minor,
				  rows + (size_t)i * slices, slices);
	free(rows);
	missed = calloc(points + 1, sizeof(*missed));
	if (missed) {
		session_missed_read(session, missed);
		for (uint32_t i = 0; i < points; i++)
			if (missed[i] != RAS_MISSED_UNKNOWN)
				figures->missed += missed[i];
		free(missed);
	}
}

static void summary_figures_read(struct recording *r,
				 struct record_figures *figures)
{
	struct session_list list;

	if (session_list_read(&list, &r->buffer, r->private.path, NULL))
		return;
	for (size_t i = 0; i < list.count; i++)
		session_sum(r, figures, &list.items[i]);
	session_list_free(&list);
}

/* "1 resize", "2 resizes" */
static void print_number(const char *before, uint64_t number, const char *what,
			 const char *after)
{
	fprintf(stderr, "%s%" PRIu64 " %s%s%s", before, number, what,
		number == 1 ? "" : "s", after);
}

/* "heapmon: dropped 3 events", if there are any */
static void print_some(const char *before, uint64_t number, const char *what)
{
	if (number)
		print_number(before, number, what, "\n");
}

static void tables_summarize(const struct recording *r)
{
	const struct unwind_figures *tables = unwind_figures(r->unwind);

	print_number("heapmon: stack tables: ", tables->rows, "row", "");
	print_number(" of ", tables->modules, "file", "");
	if (tables->without)
		fprintf(stderr, ", %" PRIu64 " without a table",
			tables->without);
	if (tables->left_out)
		fprintf(stderr, ", %" PRIu64 " left out: no room",
			tables->left_out);
	fputc('\n', stderr);
	if (r->unwind_failed)
		fputs("heapmon: of some processes no table could be made: frame pointers are followed\n",
		      stderr);
}

/* What it came to, to stderr. */
void recording_summarize(struct recording *r)
{
	struct record_figures figures = { 0 };
	char bytes[AMOUNT_TEXT];

	summary_figures_read(r, &figures);
	amount_print_bytes(bytes, r->spooler.files.total);
	print_number("heapmon: recorded ", r->spooler.total, "event", "");
	fprintf(stderr, " of %u process%s in %.1f s, %s", r->seen,
		r->seen == 1 ? "" : "es", (buffer_time() - r->begun) / 1e9,
		bytes);
	print_number(": ", figures.acquired, "allocation", "");
	print_number(", ", figures.resized, "resize", "");
	print_number(", ", figures.released, "release", "\n");
	for (size_t i = 0; i < r->armed && i < r->allocator.count; i++) {
		const struct allocator_file *file = &r->allocator.files[i];

		if (!file->count)
			continue;
		print_number("heapmon: probed ", file->count, "function",
			     " of '");
		safe_text_print(stderr, file->path, false);
		fprintf(stderr, "'%s%s%s%s\n", file->name ? " (" : "",
			file->name ? allocator_names[file->name] : "",
			file->name ? ")" : "",
			i < r->armed_first || !allocator_file_gives(file) ? "" :
			": it came later, its first calls are missing");
	}
	if (r->unwind)
		tables_summarize(r);
	if (r->old_blocks) {
		amount_print_bytes(bytes, r->old_bytes);
		print_number("heapmon: ", r->old_blocks, "block", "");
		fprintf(stderr, " (%s) %s there before; stopped for %.1f ms\n",
			bytes, r->old_blocks == 1 ? "was" : "were",
			r->old_stopped / 1e6);
	}
	if (r->spooler.lost)
		fprintf(stderr,
			"heapmon: %llu events were overwritten before they could be written: a larger buffer keeps them longer (--buffer)\n",
			(unsigned long long)r->spooler.lost);
	print_some("heapmon: dropped ", figures.dropped, "event");
	print_some("heapmon: the kernel missed ", figures.missed, "call");
	if (r->tracker_lost)
		fputs("heapmon: the kernel lost events of processes: forks and exits may be missing\n",
		      stderr);
	if (r->unseen)
		fprintf(stderr,
			"heapmon: %u program%s that %s executed ended before it was seen which allocator %s: calls may be missing\n",
			r->unseen, r->unseen == 1 ? "" : "s",
			r->unseen == 1 ? "was" : "were",
			r->unseen == 1 ? "it has" : "they have");
	if (r->why.text[0])
		error_print("heapmon", &r->why);
}

void recording_close(struct recording *r)
{
	if (r->spooling)
		spooler_close(&r->spooler);
	if (r->tracker)
		tracker_close(r->tracker);
	if (r->unwind)
		unwind_close(r->unwind);
	unwind_maps_close(&r->unwind_fds);
	heap_maps_close(&r->heap);
	allocator_free(&r->allocator);
	mappings_cache_free(&r->mappings);
	free(r->notes);
	free(r->processes);
	if (r->buffer.control)
		buffer_close(&r->buffer);
	if (r->private.path[0]) {
		retire_everything(&r->private);
		pins_remove(r->common.path, r->private.path);
	}
	launch_drop(&r->launch);
}

// SPDX-License-Identifier: GPL-2.0
#include "show.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "lib/outfile.h"
#include "lib/path.h"
#include "lib/text.h"
#include "tracefmt/output/cell.h"
#include "tracefmt/output/diff.h"
#include "tracefmt/output/pipeline.h"
#include "tracefmt/output/summary.h"
#include "tracefmt/pair/pairing.h"
#include "aggregate_tables.h"
#include "live.h"

/* ---- where the text goes: standard output, a file, a pager ---- */

/* Standard output becomes the file of -o, or the pager's pipe when it is a
 * terminal. */
struct outlet {
	const char *path;	/* of the file; NULL: none */
	struct outfile *file;	/* it, until it is whole; NULL: as it comes */
	pid_t pager;		/* 0: none */
};

/* ---- a file ---- */

static int file_refuse(const char *path, int code, struct error *err)
{
	return error_set(err, code, "cannot write '%s': %s", path,
			 strerror(-code));
}

static bool is_input(const struct stream *stream, const char *path)
{
	for (size_t i = 0; i < stream->count; i++)
		if (outfile_is_input(path, stream->traces[i]->name))
			return true;
	return false;
}

/* Another file may be put in the place of this one. */
static bool is_replaceable(const char *path)
{
	char *real = realpath(path, NULL);
	bool is = real && !eaccess(dirname(real), W_OK);

	free(real);
	return is;
}

/* What comes bit by bit is looked at meanwhile, and can't be had again: it is
 * written as it comes. So is what is no file of its own. */
static bool is_in_place(const struct stream *stream, const char *path,
			const struct stat *old)
{
	struct stat out;

	for (size_t i = 0; i < stream->count; i++)
		if (stream->traces[i]->file.source.pipe)
			return true;
	return old && (!S_ISREG(old->st_mode) || !is_replaceable(path) ||
		       (!fstat(STDOUT_FILENO, &out) &&
			out.st_dev == old->st_dev &&
			out.st_ino == old->st_ino));
}

static int place_open(const char *path, struct error *err)
{
	int fd = outfile_open_in_place(path, err), code = 0;

	if (fd < 0)
		return fd;
	if (dup2(fd, STDOUT_FILENO) < 0)
		code = file_refuse(path, -errno, err);
	if (fd != STDOUT_FILENO)
		close(fd);
	return code;
}

static int outlet_file_open(struct outlet *outlet, const struct stream *stream,
			    struct error *err)
{
	struct stat st;
	bool old = !stat(outlet->path, &st);
	int code;

	if (is_input(stream, outlet->path))
		return error_set(err, -EINVAL,
				 "cannot write '%s': it is the trace itself",
				 outlet->path);
	if (is_in_place(stream, outlet->path, old ? &st : NULL))
		return place_open(outlet->path, err);
	code = outfile_open(&outlet->file, outlet->path, err);
	if (!code && dup2(outfile_fd(outlet->file), STDOUT_FILENO) < 0)
		code = file_refuse(outlet->path, -errno, err);
	return code;
}

static int outlet_file_close(struct outlet *outlet, bool whole,
			     struct error *err)
{
	int code = 0;

	if (close(STDOUT_FILENO))
		code = file_refuse(outlet->path, -errno, err);
	if (outlet->file && whole && !code)
		return outfile_commit(outlet->file, err);
	outfile_abort(outlet->file);
	return code;
}

/* ---- a pager ---- */

/* What comes bit by bit isn't for a pager, nor what ends only by ^C. */
static bool is_paged(const struct show_settings *settings,
		     const struct stream *stream)
{
	const char *term = getenv("TERM");

	if (settings->no_pager || settings->follow || settings->output.path ||
	    !isatty(STDOUT_FILENO) || !term || !strcmp(term, "dumb"))
		return false;
	for (size_t i = 0; i < stream->count; i++)
		if (stream->traces[i]->file.source.pipe)
			return false;
	return true;
}

/* In the child. `failed` is closed by exec(), or gets the errno of it. */
static void pager_run(const char *command, const int text[2], int failed)
{
	int code;

	if (dup2(text[0], STDIN_FILENO) >= 0) {
		close(text[0]);
		close(text[1]);
		signal(SIGINT, SIG_DFL);
		signal(SIGPIPE, SIG_DFL);
		/* quit at once when it fits, colours pass, the screen stays */
		setenv("LESS", "FRX", 0);
		if (command)
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		else
			execlp("less", "less", (char *)NULL);
	}
	code = errno;
	if (write(failed, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

/* Its process; 0: there is none. */
static pid_t pager_start(const char *command, const int text[2])
{
	int failed[2], code;
	pid_t pid;

	if (pipe2(failed, O_CLOEXEC))
		return 0;
	pid = fork();
	if (!pid)
		pager_run(command, text, failed[1]);
	close(failed[1]);
	if (pid > 0 && read(failed[0], &code, sizeof(code)) > 0) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(failed[0]);
	return pid > 0 ? pid : 0;
}

/* Without a pager it goes to the terminal. */
static void pager_open(struct outlet *outlet)
{
	const char *command = getenv("PAGER");
	int text[2];

	if (command && (!*command || !strcmp(command, "cat")))
		return;
	if (pipe2(text, O_CLOEXEC))
		return;
	outlet->pager = pager_start(command, text);
	if (outlet->pager) {
		/* ^C is for the pager; its end is ours */
		signal(SIGINT, SIG_IGN);
		if (isatty(STDERR_FILENO))
			dup2(text[1], STDERR_FILENO);
		dup2(text[1], STDOUT_FILENO);
	}
	close(text[0]);
	close(text[1]);
}

/* ---- */

static bool is_coloured(const struct show_settings *settings)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	if (settings->colour != COLOUR_AUTO)
		return settings->colour == COLOUR_ALWAYS;
	return !settings->output.path && isatty(STDOUT_FILENO) &&
	       !(none && *none) && term && strcmp(term, "dumb");
}

/* The stream's traces are open. Sets settings->output.colour. 0, or a negative
 * errno with err set. */
static int outlet_open(struct outlet *outlet, struct show_settings *settings,
		       const struct stream *stream, struct error *err)
{
	*outlet = (struct outlet){ 0 };
	settings->output.colour = is_coloured(settings);
	if (settings->output.path && settings->format != &output_ctf) {
		outlet->path = settings->output.path;
		return outlet_file_open(outlet, stream, err);
	}
	if (is_paged(settings, stream))
		pager_open(outlet);
	return 0;
}

/* What was written has arrived, and been read in the pager. A file that is not
 * `whole` leaves what was there before. 0, or a negative errno with err set. */
static int outlet_close(struct outlet *outlet, bool whole, struct error *err)
{
	int code = fflush(stdout) ? -errno : ferror(stdout) ? -EIO : 0;
	int closed;
	int null;

	if (outlet->pager) {
		/* It reads until both ends are closed. */
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		close(null);
		while (waitpid(outlet->pager, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (!outlet->path)
		return code;
	if (code)
		file_refuse(outlet->path, code, err);
	closed = outlet_file_close(outlet, whole && !code, code ? NULL : err);
	return code ? code : closed;
}

/* ---- how far it is, on standard error if the output isn't there ---- */

#define SECOND		1000000000ULL
#define PROGRESS_EVERY	0x4000	/* events, a power of two: worth a look at the
				 * clock */

struct show_progress {
	bool shown;
	bool begun;		/* a line is on the terminal */
	uint64_t next;		/* time of the next line */
	uint64_t bytes;		/* of all records; 0: not known, a pipe */
	uint64_t done;		/* of these */
};

static uint64_t progress_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static uint64_t trace_bytes(const struct trace *trace)
{
	const struct slices *slices = &trace->file.slices;
	uint64_t bytes = 0;

	for (size_t i = 0; i < slices->count; i++)
		for (size_t k = 0; k < slices->items[i]->chunk_count; k++) {
			const struct ras_slice_copy *copy =
				&slices->items[i]->chunks[k].copy;

			bytes += copy->head - copy->first;
		}
	return bytes;
}

/* The beginnings have been read. */
static void progress_open(struct show_progress *progress,
			  const struct stream *stream)
{
	*progress = (struct show_progress){
		.shown = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO),
		.next = progress_now() + SECOND,
	};
	for (size_t i = 0; i < stream->count; i++) {
		if (stream->traces[i]->file.source.pipe) {
			progress->bytes = 0;
			return;
		}
		progress->bytes += trace_bytes(stream->traces[i]);
	}
}

static void progress_print(struct show_progress *progress,
			   const struct stream *stream)
{
	uint64_t time = progress_now();
	double part;

	if (time < progress->next)
		return;
	progress->next = time + SECOND / 4;
	progress->begun = true;
	part = progress->bytes > progress->done ?
	       100.0 * progress->done / progress->bytes : 100;
	fputs("\r\033[K", stderr);
	if (progress->bytes)
		fprintf(stderr, "%.0f %%, ", part);
	fprintf(stderr, "%llu events", (unsigned long long)stream->number);
	fflush(stderr);
}

static void progress_count(struct show_progress *progress,
			   const struct stream *stream,
			   const struct event *event)
{
	if (!progress->shown)
		return;
	progress->done += ((uint64_t)event->record->length + 7) & ~7ULL;
	if (!(event->number & (PROGRESS_EVERY - 1)))
		progress_print(progress, stream);
}

static void progress_close(struct show_progress *progress)
{
	if (progress->begun)
		fputs("\r\033[K", stderr);
	progress->begun = progress->shown = false;
}

/* ---- messages and figures after the last event ---- */

#define PROGRAM		"tracefmt"

static void damage_report(const struct stream *stream,
			  const struct trace *trace)
{
	const struct damage *damage = &trace->file.damage;
	const char *name = stream->count > 1 ? trace->name : "";
	const char *colon = stream->count > 1 ? ": " : "";

	for (size_t i = 0; i < damage->count && i < DAMAGE_LINES; i++)
		fprintf(stderr, PROGRAM ": %s%slost or damaged: %s\n", name,
			colon, damage->lines[i]);
	if (damage->count > DAMAGE_LINES)
		fprintf(stderr, PROGRAM ": %s%sand %zu more places\n", name,
			colon, damage->count - DAMAGE_LINES);
}

/* Not all outputs have a place for it in each record. */
static void changes_report(const struct trace_file *file)
{
	for (size_t i = 0; i < file->session_count; i++) {
		const struct ras_session *entry = file->sessions[i]->entry;

		if (!entry->changed)
			continue;
		fputs(PROGRAM ": '", stderr);
		safe_text_print(stderr, entry->module, false);
		fputs("' was written to while it was armed: records of later hits are marked, and may be of another build\n",
		      stderr);
	}
}

/* Report records without a TFF entry; true: there are some. */
static bool unmatched_report(const struct show_settings *settings,
			     const struct stream *stream, uint64_t given)
{
	uint64_t left = filter_undecided(settings->filter);
	const char *directories = stream->search->directories;
	const struct match_lack *other = NULL;
	bool missing = false;

	if (given)
		fprintf(stderr, PROGRAM ": %llu records without a matching TFF entry%s\n",
			(unsigned long long)given,
			settings->summary_only ? "" : " are shown in hex");
	if (left)
		fprintf(stderr, PROGRAM ": %llu records without a matching TFF entry are left out: their group, types and fields are not known\n",
			(unsigned long long)left);
	if (!given && !left)
		return false;

	/* Why there were no entries, and what to do. */
	for (size_t i = stream->count; i--;) {
		missing |= stream->traces[i]->match.lack.missing;
		if (stream->traces[i]->match.lack.file)
			other = &stream->traces[i]->match.lack;
	}
	if (other) {
		/* A TFF was found, but of another compilation. Do TSF and TDF
		 * have the same name, apart from .tsf and .tdf? */
		const char *tsf = path_base(other->tsf);
		const char *tdf = path_base(other->tdf);
		size_t length = strcspn(tsf, ".");
		bool same = length == strcspn(tdf, ".") &&
			    !strncmp(tsf, tdf, length);
		struct error note;

		error_set(&note, 0, same ? "'%s' was made anew since, of '%s' as it is now" :
			  "'%s' is of another TSF now, '%s'", other->file,
			  other->tsf);
		error_hint(&note, "compile the TSF of '%s'%s into a directory of its own (trcust -o) and name it with --tff DIR%s",
			   other->tdf, same ? " as it was" : "",
			   same ? "" : "; a MAJOR for each keeps both");
		error_print(PROGRAM, &note);
	}
	if (missing)
		fprintf(stderr, PROGRAM ": name the directory of their TFF with --tff DIR; looked for in %s\n",
			directories ? directories : "none");
	return true;
}

/* Report a function whose calls weren't paired, since they may change threads. */
static void migrates_report(const struct show_settings *settings,
			    const struct stream *stream)
{
	const struct output_ops *format = settings->format;

	if (!format->calls && format != &output_perfetto &&
	    format != &output_html)
		return;
	for (size_t i = 0; i < stream->count; i++) {
		const struct match *match = &stream->traces[i]->match;
		const struct match_point *point;
		size_t at = 0;

		while ((point = key_map_next(&match->points, &at))) {
			if (!pair_migrates(point))
				continue;
			fprintf(stderr, PROGRAM ": calls of '%s' may go on in another thread (goroutines, coroutines): they are not paired, their latencies are not known\n",
				tff_string(point->tff, point->section->name));
			return;
		}
	}
}

/* Report calls without a figure, where they are not listed anyhow. */
static void doubts_report(const struct output *output)
{
	static const char *const reasons[PAIR_DOUBTS] = {
		[PAIR_RECURSION] = "of functions that call themselves",
		[PAIR_LOST] = "near missing records",
		[PAIR_FILTERED] = "of functions whose hits are not all recorded",
	};
	uint64_t count = 0;

	for (size_t i = 0; i < PAIR_DOUBTS; i++)
		count += reasons[i] ? output->doubts[i] : 0;
	if (output->ops == &output_pairs || !count)
		return;
	fprintf(stderr, PROGRAM ": %llu calls have no latency, because their POST may be that of another call",
		(unsigned long long)count);
	for (size_t i = 0; i < PAIR_DOUBTS; i++)
		if (reasons[i] && output->doubts[i])
			fprintf(stderr, "; %llu %s",
				(unsigned long long)output->doubts[i],
				reasons[i]);
	fputc('\n', stderr);
}

/* On standard error: what was lost or damaged, and how many of the printed events
 * had no format. Returns the exit status. */
static int report_outcome(const struct show_settings *settings,
			  const struct stream *stream, uint64_t unmatched)
{
	bool damaged = false, unknown = false;
	struct error note;
	const char *dir;
	size_t at = 0;
	int more;

	for (size_t i = 0; i < stream->count; i++) {
		const struct trace *trace = stream->traces[i];

		damage_report(stream, trace);
		changes_report(&trace->file);
		damaged |= trace->file.damage.count;
	}
	while ((dir = symbols_useless(&settings->symbols, &at)))
		fprintf(stderr, PROGRAM ": --symbols '%s': it has no file of a build-id that is in the trace\n",
			dir);
	if (settings->server.off)
		error_print(PROGRAM, &settings->server.why);
	migrates_report(settings, stream);

	/* Names in options that no event has. */
	for (size_t i = 0;
	     (more = filter_report(settings->filter, i, &note)) >= 0; i++) {
		if (more)
			error_print(PROGRAM, &note);
		unknown |= more == 2;
	}
	return (unmatched_report(settings, stream, unmatched) &&
		settings->strict) ||
	       damaged || unknown ? 1 : 0;
}

/* Why it failed: err, or if that is empty the negative errno `code`. */
static void report_failure(const struct show_settings *settings,
			   const struct error *err, int code)
{
	const char *folder, *path = settings->output.path;

	if (err->text[0])
		error_print(PROGRAM, err);
	else if (temp_file_failed(code, &folder))
		fprintf(stderr, PROGRAM ": cannot keep events in a file of TMPDIR, '%s': %s\n",
			folder, strerror(-code));
	else if (path && code != -ENOMEM)
		fprintf(stderr, PROGRAM ": cannot write '%s': %s\n", path,
			strerror(-code));
	else
		fprintf(stderr, PROGRAM ": cannot print: %s\n",
			strerror(-code));
}

/* The figures, if they are wanted; selected: of the printed events, or NULL. 0 or
 * -ENOMEM. */
static int report_summary(const struct show_settings *settings,
			  const struct stream *stream,
			  struct selected *selected)
{
	struct clock clock = {
		.utc = settings->output.utc,
		.relative = settings->output.relative,
		.start = stream->first,
	};
	FILE *out = settings->summary_only ? stdout : stderr;

	if (settings->aggregates)
		return aggregate_tables_print(stdout, stream, settings->format,
					      settings->output.symbols);
	if (!settings->summary_only && settings->quiet)
		return 0;
	if (!selected)
		return summary_print(out, stream, &clock);
	selected_print(out, selected, &clock);
	return 0;
}

/* ---- from the first event to the last ---- */

/* What is at work while traces are shown. */
struct work {
	struct show_settings *settings;
	struct stream *stream;
	struct outlet outlet;
	struct output output;
	struct pipeline *pipeline;	/* NULL: figures only */
	struct order *order;
	struct selected *selected;		/* NULL: the traces' counters do */
	struct scratch scratch;		/* for choosing */
	struct show_progress progress;
	uint64_t unmatched;		/* given out without a TFF entry */
	bool begun, passed;
	bool calls;			/* the output chooses calls itself */
	struct error err;		/* of what failed */
};

static int show_event(void *context, const struct event *event)
{
	struct work *w = context;
	int code = w->selected ? selected_add(w->selected, event) : 0;

	w->unmatched += !event->point->formatted;
	if (code)
		return code;
	return w->pipeline ? pipeline_give(w->pipeline, event) : 0;
}

/* What still comes can't be selected. It is read for the figures, if they are
 * wanted; a pipe may have no end. */
static bool events_passed(struct work *w, const struct event *event)
{
	const struct show_settings *s = w->settings;

	w->passed = w->passed || (filter_done(s->filter, event) &&
				  !s->order.around);
	return w->passed && ((s->quiet && !s->summary_only) ||
			     event->trace->file.source.pipe);
}

/* All that may come out now. 0, or a negative errno; -ECANCELED: no more is
 * wanted. */
static int events_give(struct work *w)
{
	struct filter *filter = w->settings->filter;
	bool all = w->calls || filter_empty(filter);
	struct event event;
	int selected, code, more;

	while ((more = stream_next(w->stream, &event)) == STREAM_EVENT) {
		progress_count(&w->progress, w->stream, &event);
		w->scratch.clock.start = w->stream->first;
		selected = all ? 1 : w->passed ? 0 :
			 filter_holds(filter, &event, &w->scratch);
		code = selected < 0 ? selected :
		       order_add(w->order, &event, selected);
		if (code)
			return code;
		if (!all && events_passed(w, &event))
			return -ECANCELED;
	}
	return more < 0 ? more : 0;
}

static bool stream_ended(const struct stream *stream)
{
	for (size_t i = 0; i < stream->count; i++)
		if (!stream->traces[i]->ended)
			return false;
	return true;
}

/* A field that no event can have is reported before any event is printed. Of a
 * pipe other tracepoints may come. 0, or a negative errno with err set or not. */
static int fields_look(struct work *w)
{
	struct columns columns;
	size_t sessions = 0;
	int code;

	for (size_t i = 0; i < w->stream->count; i++) {
		sessions += w->stream->traces[i]->file.session_count;
		if (w->stream->traces[i]->file.source.pipe)
			return 0;
	}
	code = columns_parse(&columns, &w->settings->output, &w->err);
	for (size_t n = 0; n < columns.count && sessions && !code; n++) {
		const char *name;
		size_t length;
		int known = 0;

		if (!columns_item_field(&columns.items[n], &name, &length))
			continue;
		for (size_t i = 0; i < w->stream->count && !known; i++)
			known = match_field_known(&w->stream->traces[i]->match,
						  name, length);
		code = known < 0 ? known : known ? 0 :
		       columns_item_check(&columns.items[n], &w->err);
	}
	columns_free(&columns);
	return code;
}

/* To the end; of a pipe as the records come. */
static int events_run(struct work *w)
{
	int code;

	do {
		code = w->pipeline ? pipeline_flush(w->pipeline) : 0;
		if (!code)
			code = stream_more(w->stream);
		if (!code && !w->begun) {
			code = filter_start(w->settings->filter, w->stream,
					    &w->settings->output, &w->err);
			if (!code && w->pipeline)
				code = fields_look(w);
			progress_open(&w->progress, w->stream);
			if (!code && w->pipeline)
				code = pipeline_begin(w->pipeline, &w->err);
			w->begun = !code;
		}
		if (!code)
			code = events_give(w);
	} while (!code && !stream_ended(w->stream));
	if (code == -ECANCELED) {
		if (w->selected)
			selected_stop(w->selected);
		code = 0;
	}
	return code ? code : order_end(w->order);
}

/* ---- opening and closing ---- */

static int choose_event(void *context, const struct event *event)
{
	struct work *w = context;

	return filter_holds(w->settings->filter, event, &w->scratch);
}

static int choose_call(void *context, const struct pair_call *call)
{
	struct work *w = context;

	return filter_holds_call(w->settings->filter, call);
}

/* Calls are matched before any are chosen, unless events must be chosen first:
 * then some are out of sight. */
static void calls_choose(struct work *w)
{
	const struct order_settings *order = &w->settings->order;
	const struct filter *filter = w->settings->filter;
	bool cut = order->last || order->around || order->since_end ||
		   order->until_end;

	w->calls = w->pipeline && w->output.ops->calls && !cut;
	if (!w->calls) {
		w->output.pairing_wanted =
			(cut || filter_has_since(filter) ? PAIRING_CUT : 0) |
			(order->around || filter_splits(filter) ?
			 PAIRING_PARTIAL : 0);
		return;
	}
	if (!filter_empty(filter))
		w->output.choice = (struct output_choice){
			choose_event, choose_call, w,
		};
}

/* All but the outlet. */
static int work_open(struct work *w)
{
	struct show_settings *s = w->settings;

	if (!s->output.symbols)
		s->output.symbols = symbols_open(&s->symbols);
	w->output = (struct output){
		.ops = s->format, .settings = &s->output, .stream = w->stream,
	};
	if (!s->summary_only)
		w->pipeline = pipeline_open(&w->output, STDOUT_FILENO, 0);
	filter_order(s->filter, &s->order);
	calls_choose(w);
	w->order = order_open(&s->order, show_event, w);
	if ((s->summary_only || !s->quiet) && !w->calls &&
	    (s->summary_by != SUMMARY_ALL || s->order.last ||
	     !filter_empty(s->filter))) {
		w->selected = selected_open(s->summary_by, w->stream);
		if (!w->selected)
			return -ENOMEM;
	}
	return s->output.symbols && w->order &&
	       (w->pipeline || s->summary_only) ? 0 : -ENOMEM;
}

/* ---- interrupts ---- */

static void interrupt_take(int number)
{
	live_stop();
}

/* ^C stops a pipeline, of which the user wants the end, too: the pipe ends by
 * itself then, and what is followed is made to. The second one stops us. */
static void interrupts_await_end(const struct work *w)
{
	struct sigaction once = {
		.sa_handler = interrupt_take,
		.sa_flags = SA_RESETHAND | SA_RESTART,
	};
	const struct stream *stream = w->stream;

	/* write() fails with EPIPE when the reader has gone */
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < stream->count; i++)
		if (stream->traces[i]->file.source.pipe)
			sigaction(SIGINT, &once, NULL);
	if (!live_followed())
		return;
	sigaction(SIGTERM, &once, NULL);
	/* who started us may have blocked it until now */
	sigemptyset(&once.sa_mask);
	sigaddset(&once.sa_mask, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &once.sa_mask, NULL);
}

/* ---- */

/* Print messages and figures; returns the exit status. */
static int end_report(struct work *w, int code)
{
	struct error gone = { 0 };
	int ended = live_end(&gone), status, failed = 0;

	/* the reader has gone */
	if (code == -EPIPE)
		return 0;
	if (ended)
		report_failure(w->settings, &gone, ended);
	if (code)
		report_failure(w->settings, &w->err, code);
	status = report_outcome(w->settings, w->stream, w->unmatched);
	doubts_report(&w->output);
	if (!code)
		failed = report_summary(w->settings, w->stream, w->selected);
	if (failed)
		report_failure(w->settings, &w->err, failed);
	return code || failed || ended < 0 ? 1 : status;
}

/* From the first event to the last. 0, or a negative errno. */
static int work_run(struct work *w)
{
	int code = work_open(w);

	interrupts_await_end(w);
	if (!code)
		code = events_run(w);
	stream_finish(w->stream);
	if (w->begun && w->pipeline)
		code = pipeline_end(w->pipeline, code, &w->err);
	progress_close(&w->progress);
	return code;
}

static void work_close(struct work *w)
{
	order_close(w->order);
	selected_close(w->selected);
	pipeline_close(w->pipeline);
	output_free(&w->output);
	symbols_close(w->settings->output.symbols);
	w->settings->output.symbols = NULL;
	free(w->scratch.pieces);
}

int show_stream(struct show_settings *settings, struct stream *stream)
{
	struct work w = { .settings = settings, .stream = stream };
	struct error err = { 0 };
	int code = outlet_open(&w.outlet, settings, stream, &w.err);
	int closed, status;

	if (!code)
		code = work_run(&w);
	status = end_report(&w, code);
	closed = outlet_close(&w.outlet, !code, &err);
	if (closed && closed != -EPIPE && !code) {
		report_failure(settings, &err, closed);
		status = 1;
	}
	work_close(&w);
	return status;
}

/* ---- two traces ---- */

static bool records_are_missing(const struct work *w)
{
	bool missing = w->output.doubts[PAIR_LOST] ||
		       w->output.doubts[PAIR_FILTERED];

	for (size_t i = 0; i < w->stream->count; i++) {
		const struct trace_file *file = &w->stream->traces[i]->file;

		missing |= file->damage.count || file->slices.gaps ||
			   file->pass.lost > file->lost_base;
		for (size_t n = 0; n < file->slices.count; n++)
			missing |= file->slices.items[n]->dropped >
				   file->slices.items[n]->dropped_base;
	}
	return missing || (w->output.pairing &&
			   pairing_muted(w->output.pairing));
}

/* 0, or a negative errno with err set or not. */
static int diff_print(struct work *w, struct error *err)
{
	struct text text;
	int code;

	for (size_t i = 0; i < 2; i++) {
		if (!records_are_missing(&w[i]) || w[i].settings->force)
			continue;
		error_set(err, -ENODATA, "cannot compare '%s': records are missing in it",
			  w[i].stream->traces[0]->name);
		error_hint(err, "--force compares what is there; --summary shows what is missing");
		return -ENODATA;
	}
	code = text_open(&text, STDOUT_FILENO);
	if (!code)
		code = diff_compare(&w[0].output, &w[1].output, &text);
	if (!code)
		code = text_flush(&text);
	free(text.data);
	return code;
}

int show_diff(struct show_settings *settings, struct stream *old,
	      struct stream *new)
{
	struct work w[] = {
		{ .settings = settings, .stream = old },
		{ .settings = settings, .stream = new },
	};
	struct error err = { 0 };
	int code = outlet_open(&w[0].outlet, settings, old, &w[0].err);
	int status = 0, closed;

	for (size_t i = 0; i < 2; i++) {
		if (!code)
			code = work_run(&w[i]);
		status |= end_report(&w[i], code);
	}
	if (!code) {
		code = diff_print(w, &err);
		if (code && code != -EPIPE) {
			report_failure(settings, &err, code);
			status = 1;
		}
	}
	closed = outlet_close(&w[0].outlet, !code, &err);
	if (closed && closed != -EPIPE && !code) {
		report_failure(settings, &err, closed);
		status = 1;
	}
	work_close(&w[0]);
	work_close(&w[1]);
	return status;
}

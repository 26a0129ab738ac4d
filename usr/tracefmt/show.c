// SPDX-License-Identifier: GPL-2.0
#include "show.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "live.h"
#include "outlet.h"
#include "tracefmt/output/chosen.h"
#include "tracefmt/output/pipeline.h"
#include "progress.h"
#include "tell.h"

/* What is at work while traces are shown. */
struct work {
	struct settings *settings;
	struct stream *stream;
	struct outlet outlet;
	struct output output;
	struct pipeline *pipeline;	/* NULL: figures only */
	struct order *order;
	struct chosen *chosen;		/* NULL: the traces' counters do */
	struct scratch scratch;		/* for choosing */
	struct progress progress;
	uint64_t unmatched;		/* given out without a TFF entry */
	bool begun, passed;
	struct error err;		/* of what failed */
};

static int event_give(void *context, const struct event *event)
{
	struct work *w = context;
	int code = w->chosen ? chosen_add(w->chosen, event) : 0;

	w->unmatched += !event->point->formatted;
	if (code)
		return code;
	return w->pipeline ? pipeline_give(w->pipeline, event) : 0;
}

/* What still comes can't be chosen. It is read for the figures, if they are
 * wanted; a pipe may have no end. */
static bool events_passed(struct work *w, const struct event *event)
{
	const struct settings *s = w->settings;

	w->passed = w->passed || (choose_done(s->choose, event) &&
				  !s->order.around);
	return w->passed && ((s->quiet && !s->summary_only) ||
			     event->trace->file.source.pipe);
}

/* All that may come out now. 0, or a negative errno; -ECANCELED: no more is
 * wanted. */
static int events_give(struct work *w)
{
	struct choose *choose = w->settings->choose;
	bool all = choose_empty(choose);
	struct event event;
	int chosen, code, more;

	while ((more = stream_next(w->stream, &event)) == STREAM_EVENT) {
		progress_count(&w->progress, w->stream, &event);
		w->scratch.clock.start = w->stream->first;
		chosen = all ? 1 : w->passed ? 0 :
			 choose_holds(choose, &event, &w->scratch);
		code = chosen < 0 ? chosen :
		       order_add(w->order, &event, chosen);
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

static int work_begin(struct work *w)
{
	int code = choose_start(w->settings->choose, w->stream,
				&w->settings->output, &w->err);

	progress_open(&w->progress, w->stream);
	if (!code && w->pipeline)
		code = pipeline_begin(w->pipeline, &w->err);
	w->begun = !code;
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
		if (!code && !w->begun)
			code = work_begin(w);
		if (!code)
			code = events_give(w);
	} while (!code && !stream_ended(w->stream));
	if (code == -ECANCELED) {
		if (w->chosen)
			chosen_stop(w->chosen);
		code = 0;
	}
	return code ? code : order_end(w->order);
}

/* ---- opening and closing ---- */

/* The counters don't say what was given out. */
static bool chosen_wanted(const struct settings *s)
{
	return (s->summary_only || !s->quiet) &&
	       (s->summary_by != SUMMARY_ALL || s->order.last ||
		!choose_empty(s->choose));
}

static int work_open(struct work *w)
{
	struct settings *s = w->settings;
	int code = outlet_open(&w->outlet, s, w->stream, &w->err);

	if (code)
		return code;
	s->output.symbols = symbols_open(&s->symbols);
	w->output = (struct output){
		.ops = s->format, .settings = &s->output, .stream = w->stream,
	};
	if (!s->summary_only)
		w->pipeline = pipeline_open(&w->output, STDOUT_FILENO, 0);
	choose_order(s->choose, &s->order);
	w->order = order_open(&s->order, event_give, w);
	if (chosen_wanted(s)) {
		w->chosen = chosen_open(s->summary_by, w->stream);
		if (!w->chosen)
			return -ENOMEM;
	}
	return s->output.symbols && w->order &&
	       (w->pipeline || s->summary_only) ? 0 : -ENOMEM;
}

static void work_close(struct work *w)
{
	order_close(w->order);
	chosen_close(w->chosen);
	pipeline_close(w->pipeline);
	if (w->output.ops && w->output.ops->free)
		w->output.ops->free(&w->output);
	symbols_close(w->settings->output.symbols);
	free(w->scratch.pieces);
}

/* ---- interrupts ---- */

static void interrupt_take(int number)
{
	live_stop();
}

/* Who stops a pipeline with ^C wants the end of it, too: the pipe ends by
 * itself then, and what is followed is made to. The second one stops us. */
static void interrupts_await_end(const struct work *w)
{
	struct sigaction once = {
		.sa_handler = interrupt_take,
		.sa_flags = SA_RESETHAND | SA_RESTART,
	};
	const struct stream *stream = w->stream;

	/* write() tells that nobody reads any more */
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < stream->count; i++)
		if (stream->traces[i]->file.source.pipe)
			sigaction(SIGINT, &once, NULL);
	if (live_followed())
		sigaction(SIGTERM, &once, NULL);
}

/* ---- */

/* What is to be said, and the exit status. */
static int end_tell(struct work *w, int code)
{
	struct error gone = { 0 };
	int ended = live_end(&gone), status, told = 0;

	/* nobody looks any more */
	if (code == -EPIPE)
		return 0;
	if (ended)
		tell_failure(w->settings, &gone, ended);
	if (code)
		tell_failure(w->settings, &w->err, code);
	status = tell_outcome(w->settings, w->stream, w->unmatched);
	if (!code)
		told = tell_summary(w->settings, w->stream, w->chosen);
	if (told)
		tell_failure(w->settings, &w->err, told);
	return code || told || ended < 0 ? 1 : status;
}

int show_stream(struct settings *settings, struct stream *stream)
{
	struct work w = { .settings = settings, .stream = stream };
	struct error err = { 0 };
	int code = work_open(&w), closed, status;

	interrupts_await_end(&w);
	if (!code)
		code = events_run(&w);
	stream_finish(stream);
	if (w.begun && w.pipeline)
		code = pipeline_end(w.pipeline, code, &w.err);
	progress_close(&w.progress);
	status = end_tell(&w, code);
	closed = outlet_close(&w.outlet, !code, &err);
	if (closed && closed != -EPIPE && !code) {
		tell_failure(settings, &err, closed);
		status = 1;
	}
	work_close(&w);
	return status;
}

// SPDX-License-Identifier: GPL-2.0
#include "show.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "live.h"
#include "outlet.h"
#include "tracefmt/output/selected.h"
#include "tracefmt/output/pipeline.h"
#include "progress.h"
#include "report.h"

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
	bool all = filter_empty(filter);
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

static int work_open(struct work *w)
{
	struct show_settings *s = w->settings;
	int code = outlet_open(&w->outlet, s, w->stream, &w->err);

	if (code)
		return code;
	s->output.symbols = symbols_open(&s->symbols);
	w->output = (struct output){
		.ops = s->format, .settings = &s->output, .stream = w->stream,
	};
	if (!s->summary_only)
		w->pipeline = pipeline_open(&w->output, STDOUT_FILENO, 0);
	filter_order(s->filter, &s->order);
	w->order = order_open(&s->order, show_event, w);
	if ((s->summary_only || !s->quiet) &&
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
	if (live_followed())
		sigaction(SIGTERM, &once, NULL);
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
	if (!code)
		failed = report_summary(w->settings, w->stream, w->selected);
	if (failed)
		report_failure(w->settings, &w->err, failed);
	return code || failed || ended < 0 ? 1 : status;
}

int show_stream(struct show_settings *settings, struct stream *stream)
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
	status = end_report(&w, code);
	closed = outlet_close(&w.outlet, !code, &err);
	if (closed && closed != -EPIPE && !code) {
		report_failure(settings, &err, closed);
		status = 1;
	}
	order_close(w.order);
	selected_close(w.selected);
	pipeline_close(w.pipeline);
	if (w.output.ops && w.output.ops->free)
		w.output.ops->free(&w.output);
	symbols_close(w.settings->output.symbols);
	free(w.scratch.pieces);
	return status;
}

// SPDX-License-Identifier: GPL-2.0
#include "show.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "merge.h"
#include "sequence.h"
#include "summary.h"

#define PROGRAM		"tracefmt"

/* Of a pipe records are printed when nothing older than that can come any
 * more but from a writer that was held up longer. */
#define WINDOW		100000000ULL	/* ns */

/* What is at work while a trace is shown. */
struct work {
	struct show *show;
	struct trace_file *file;
	struct search *search;
	size_t sessions, formats;	/* of the file, known to the search */
	bool system;		/* likewise what is the same for all */
	struct match match;
	struct merge merge;
	struct sequences sequences;
	struct text text;
	uint64_t unmatched;	/* records in hex for want of a TFF */
};

/* Where the TDFs lie, one after the other often in the same place. */
static int search_update(struct work *w)
{
	for (; w->sessions < w->file->session_count; w->sessions++)
		search_add_place(w->search, w->file->sessions[w->sessions]->tdf);
	if (!w->system)
		search_add_system(w->search);
	w->system = true;
	for (; w->formats < w->file->format_count; w->formats++) {
		const struct trace_format *f = &w->file->formats[w->formats];

		if (search_add_bundled(w->search, f->name, f->data, f->size))
			return -ENOMEM;
	}
	return 0;
}

static void time_keep(struct print *print, uint64_t time)
{
	if (!print->records++)
		print->start = time;
	print->late += time < print->newest;
	if (print->newest < time)
		print->newest = time;
}

static int records_print(struct work *w, uint64_t limit)
{
	struct print *print = &w->show->print;
	const struct merge_head *head;

	while ((head = merge_next(&w->merge, limit))) {
		struct match_point *point = match_record(&w->match,
							 head->record);

		if (!point || sequence_see(&w->sequences, point, head))
			return -ENOMEM;
		time_keep(print, head->record->time);
		point->present++;
		w->unmatched += !point->formatted;
		if (w->show->summary_only)
			continue;
		if (print_record(print, point, head))
			return -ENOMEM;
		if (print->text->error)
			return -print->text->error;
	}
	return 0;
}

/* To the end; of a pipe as the records come. */
static int trace_print(struct work *w)
{
	struct trace_file *file = w->file;
	uint64_t limit = UINT64_MAX;
	int code, more;

	do {
		more = trace_file_more(file);
		code = more < 0 ? more : search_update(w);
		if (!code)
			code = merge_more(&w->merge, file->header.key);
		if (more > 0)
			limit = file->pass.time > WINDOW ?
				file->pass.time - WINDOW : 0;
		else
			limit = UINT64_MAX;
		if (!code)
			code = records_print(w, limit);
		if (!code && file->source.pipe)
			code = text_flush(&w->text);
	} while (more > 0 && !code);
	return code;
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
static int outcome_tell(const struct work *w)
{
	bool strict = w->show->strict && w->unmatched;

	damage_print(&w->file->damage);
	if (w->unmatched)
		fprintf(stderr, PROGRAM ": %llu records without a matching TFF entry%s\n"
			PROGRAM ": name the directory of their TFF with --tff DIR\n",
			(unsigned long long)w->unmatched,
			w->show->summary_only ? "" : " are shown in hex");
	return strict || w->file->damage.count ? 1 : 0;
}

static void interrupt_pass(int number)
{
}

/* Who stops a pipeline with ^C wants the end of it, too: the pipe ends by
 * itself then. The second one stops us. */
static void interrupts_await_end(const struct trace_file *file)
{
	struct sigaction once = {
		.sa_handler = interrupt_pass,
		.sa_flags = SA_RESETHAND | SA_RESTART,
	};

	if (file->source.pipe)
		sigaction(SIGINT, &once, NULL);
}

static int work_open(struct work *w)
{
	if (text_open(&w->text, STDOUT_FILENO))
		return -ENOMEM;
	w->show->print.text = &w->text;
	w->show->print.book = &w->file->book;
	w->show->print.wall_offset = w->file->header.wall_offset;
	sequence_open(&w->sequences, w->file);
	merge_open(&w->merge, w->file);
	return match_open(&w->match, w->file, w->search, w->show->force);
}

int show_trace(struct show *show, struct trace_file *file,
	       struct search *search)
{
	struct work w = { .show = show, .file = file, .search = search };
	int code = work_open(&w), written, status;

	interrupts_await_end(file);
	if (!code)
		code = trace_print(&w);
	written = text_close(&w.text);
	code = code ? code : written;
	trace_file_finish(file);
	if (code)
		fprintf(stderr, PROGRAM ": cannot print: %s\n",
			strerror(-code));
	status = outcome_tell(&w);
	if (!code && (!show->quiet || show->summary_only))
		summary_print(show->summary_only ? stdout : stderr, file,
			      &w.match, &show->print);
	merge_close(&w.merge);
	sequence_close(&w.sequences);
	match_close(&w.match);
	return code ? 1 : status;
}

// SPDX-License-Identifier: GPL-2.0
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/path.h"
#include "lib/safe_text.h"
#include "lib/temp_file.h"
#include "tracefmt/output/selected.h"
#include "tracefmt/pair/role.h"

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

	if (format != &output_pairs && format != &output_tree &&
	    format != &output_perfetto && format != &output_html)
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

int report_outcome(const struct show_settings *settings,
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

void report_failure(const struct show_settings *settings,
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

int report_summary(const struct show_settings *settings,
		   const struct stream *stream, struct selected *selected)
{
	struct clock clock = {
		.utc = settings->output.utc,
		.relative = settings->output.relative,
		.start = stream->first,
	};
	FILE *out = settings->summary_only ? stdout : stderr;

	if (!settings->summary_only && settings->quiet)
		return 0;
	if (!selected)
		return summary_print(out, stream, &clock);
	selected_print(out, selected, &clock);
	return 0;
}

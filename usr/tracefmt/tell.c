// SPDX-License-Identifier: GPL-2.0
#include "tell.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/path.h"
#include "lib/safe_text.h"
#include "lib/temp_file.h"
#include "tracefmt/pair/pairing.h"

#define PROGRAM		"tracefmt"

static void damage_tell(const struct stream *stream, const struct trace *trace)
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
static void changes_tell(const struct trace_file *file)
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

/* Whether a name was asked for that no event has. */
static bool choice_tell(const struct choose *choose)
{
	bool unknown = false;
	struct error note;
	int more;

	for (size_t i = 0; (more = choose_tell(choose, i, &note)) >= 0; i++) {
		if (more)
			error_print(PROGRAM, &note);
		unknown |= more == 2;
	}
	return unknown;
}

/* Are both called alike, apart from .tsf and .tdf? */
static bool is_of(const char *tsf, const char *tdf)
{
	const char *a = path_base(tsf), *b = path_base(tdf);
	size_t length = strcspn(a, ".");

	return length == strcspn(b, ".") && !strncmp(a, b, length);
}

/* A TFF is there, but of another compilation. */
static void other_tell(const struct match_lack *lack)
{
	struct error note;
	bool same = is_of(lack->tsf, lack->tdf);

	error_set(&note, 0, same ? "'%s' was made anew since, of '%s' as it is now" :
		  "'%s' is of another TSF now, '%s'", lack->file, lack->tsf);
	error_hint(&note, "compile the TSF of '%s'%s into a directory of its own (trcust -o) and name it with --tff DIR%s",
		   lack->tdf, same ? " as it was" : "",
		   same ? "" : "; a MAJOR for each keeps both");
	error_print(PROGRAM, &note);
}

/* Why there were no entries, and what to do. */
static void lack_tell(const struct stream *stream)
{
	const char *directories = stream->search->directories;
	bool missing = false;
	size_t other = stream->count;

	for (size_t i = stream->count; i--;) {
		missing |= stream->traces[i]->match.lack.missing;
		if (stream->traces[i]->match.lack.file)
			other = i;
	}
	if (other < stream->count)
		other_tell(&stream->traces[other]->match.lack);
	if (missing)
		fprintf(stderr, PROGRAM ": name the directory of their TFF with --tff DIR; looked for in %s\n",
			directories ? directories : "none");
}

/* Whether there were records without a TFF entry. */
static bool unmatched_tell(const struct settings *settings,
			   const struct stream *stream, uint64_t given)
{
	uint64_t left = choose_undecided(settings->choose);

	if (given)
		fprintf(stderr, PROGRAM ": %llu records without a matching TFF entry%s\n",
			(unsigned long long)given,
			settings->summary_only ? "" : " are shown in hex");
	if (left)
		fprintf(stderr, PROGRAM ": %llu records without a matching TFF entry are left out: their group, types and fields are not known\n",
			(unsigned long long)left);
	if (given || left)
		lack_tell(stream);
	return given || left;
}

static bool is_of_calls(const struct output_ops *format)
{
	return format == &output_pairs || format == &output_tree ||
	       format == &output_perfetto || format == &output_html;
}

/* Whose calls weren't paired, since they may change threads. */
static void migrates_tell(const struct settings *settings,
			  const struct stream *stream)
{
	if (!is_of_calls(settings->format))
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

static void symbols_tell(const struct symbols_settings *symbols)
{
	const char *dir;
	size_t at = 0;

	while ((dir = symbols_useless(symbols, &at)))
		fprintf(stderr, PROGRAM ": --symbols '%s': it has no file of a build-id that is in the trace\n",
			dir);
}

int tell_outcome(const struct settings *settings, const struct stream *stream,
		 uint64_t unmatched)
{
	bool damaged = false, unknown;

	for (size_t i = 0; i < stream->count; i++) {
		const struct trace *trace = stream->traces[i];

		damage_tell(stream, trace);
		changes_tell(&trace->file);
		damaged |= trace->file.damage.count;
	}
	symbols_tell(&settings->symbols);
	migrates_tell(settings, stream);
	unknown = choice_tell(settings->choose);
	return (unmatched_tell(settings, stream, unmatched) &&
		settings->strict) ||
	       damaged || unknown ? 1 : 0;
}

void tell_failure(const struct settings *settings, const struct error *err,
		  int code)
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

int tell_summary(const struct settings *settings, const struct stream *stream,
		 struct chosen *chosen)
{
	struct clock clock = {
		.utc = settings->output.utc,
		.relative = settings->output.relative,
		.start = stream->first,
	};
	FILE *out = settings->summary_only ? stdout : stderr;

	if (!settings->summary_only && settings->quiet)
		return 0;
	if (!chosen)
		return summary_print(out, stream, &clock);
	summary_print_chosen(out, stream, chosen, &clock);
	return 0;
}

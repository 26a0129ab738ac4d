// SPDX-License-Identifier: GPL-2.0
#include "summary.h"

#include <stdlib.h>

typedef unsigned long long ull;

static void name_print(FILE *out, const char *name)
{
	char safe[4 * sizeof(((struct ras_session *)0)->tdf) + 4];
	size_t length = strnlen(name, sizeof(safe) / 4);

	fwrite(safe, 1, text_put_safe(safe, name, length) - safe, out);
}

static void title_print(FILE *out, const struct trace_file *file,
			const struct print *print)
{
	char date[64];

	print_date(print, file->header.taken, date, sizeof(date));
	fprintf(out, "Trace of ");
	name_print(out, file->host);
	fprintf(out, ", Linux ");
	name_print(out, file->kernel);
	fprintf(out, ", taken %s\n", date);
}

/* A slice that has published more than is there has overwritten (or cleared)
 * the oldest: before its first record the trace has gaps. */
static bool slice_wrapped(const struct trace_slice *slice)
{
	return slice->copy.first && slice->found;
}

static void complete_print(FILE *out, const struct trace_file *file,
			   struct print *print)
{
	const struct trace_slice *latest = NULL;
	char time[64];

	if (file->damage.count) {
		fprintf(out, "Not complete: the file is damaged\n");
		return;
	}
	for (size_t i = 0; i < file->slice_count; i++) {
		const struct trace_slice *slice = &file->slices[i];

		if (slice_wrapped(slice) &&
		    (!latest || slice->oldest > latest->oldest))
			latest = slice;
	}
	if (!latest) {
		fprintf(out, "Complete from its start\n");
		return;
	}
	*print_time(print, latest->oldest, time) = '\0';
	fprintf(out, "Complete from %s on, the oldest record of CPU %u\n",
		time, latest->copy.cpu);
}

static void records_print(FILE *out, const struct trace_file *file)
{
	ull found = 0, dropped = 0;

	for (size_t i = 0; i < file->slice_count; i++) {
		found += file->slices[i].found;
		dropped += file->slices[i].copy.dropped;
	}
	fprintf(out, "%llu records, %llu hits dropped by busy slices\n", found,
		dropped);
}

static void row_start(FILE *out, unsigned int major, unsigned int minor)
{
	fprintf(out, "%5u %6u", major, minor);
}

static void figure_print(FILE *out, uint64_t value)
{
	fprintf(out, " %11llu", (ull)value);
}

/* What a damaged file has not was not overwritten. */
static void overwritten_print(FILE *out, uint64_t overwritten, bool damaged)
{
	if (damaged)
		fprintf(out, " %11s", "unknown");
	else
		figure_print(out, overwritten);
}

/* Counters are read before the slices: the records may be ahead of them. */
static void totals_print(FILE *out, const struct ras_count_total *t,
			 const struct match_point *point, bool damaged)
{
	uint64_t present = point ? point->present : 0;
	uint64_t recorded = t->recorded;

	if (point && point->reached > recorded)
		recorded = point->reached;
	figure_print(out, recorded + t->filtered + t->dropped);
	figure_print(out, recorded);
	figure_print(out, present);
	overwritten_print(out, recorded - present, damaged);
	figure_print(out, t->filtered);
	figure_print(out, t->dropped);
	if (t->missed == RAS_MISSED_UNKNOWN)
		fprintf(out, " %11s", "unknown");
	else
		figure_print(out, t->missed);
	figure_print(out, t->faults);
}

/* The figures are not in the trace. */
static void present_print(FILE *out, uint64_t present)
{
	fprintf(out, " %11s %11s %11llu", "-", "-", (ull)present);
	fprintf(out, " %11s %11s %11s %11s %11s", "-", "-", "-", "-", "-");
}

static void point_print(FILE *out, const struct trace_session *session,
			uint32_t i, const struct match *match, bool damaged)
{
	const struct match_point *point = match_armed(match, session, i);

	row_start(out, session->entry->major, session->points[i].minor);
	if (session->totals)
		totals_print(out, &session->totals[i], point, damaged);
	else
		present_print(out, point ? point->present : 0);
	fputs("  ", out);
	name_print(out, session->tdf);
	fputc('\n', out);
}

/* Nothing is known to have happened there. */
static bool point_is_idle(const struct trace_session *session, uint32_t i,
			  const struct match *match)
{
	const struct match_point *point = match_armed(match, session, i);
	const struct ras_count_total *t;

	if (!session->totals || (point && point->present))
		return false;
	t = &session->totals[i];
	return !t->recorded && !t->filtered && !t->dropped && !t->faults &&
	       (!t->missed || t->missed == RAS_MISSED_UNKNOWN);
}

static void session_print(FILE *out, const struct trace_session *session,
			  const struct match *match, bool damaged)
{
	uint32_t idle = 0;

	for (uint32_t i = 0; i < session->entry->points; i++) {
		if (point_is_idle(session, i, match))
			idle++;
		else
			point_print(out, session, i, match, damaged);
	}
	if (!idle)
		return;
	fprintf(out, "%5u      - %u tracepoint%s without a hit  ",
		session->entry->major, idle, idle == 1 ? "" : "s");
	name_print(out, session->tdf);
	fputc('\n', out);
}

static int point_compare(const void *a, const void *b)
{
	const struct match_point *const *x = a, *const *y = b;

	return (*x)->key < (*y)->key ? -1 : (*x)->key > (*y)->key;
}

/* Static records, and those of no armed tracepoint: nothing but present. */
static void others_print(FILE *out, const struct match *match)
{
	struct match_point **points = calloc(match->count + 1,
					     sizeof(*points));
	size_t n = 0;

	for (size_t i = 0; points && i < match->size; i++)
		if (match->table[i] && !match->table[i]->armed)
			points[n++] = match->table[i];
	if (n)
		qsort(points, n, sizeof(*points), point_compare);
	for (size_t i = 0; i < n; i++) {
		row_start(out, points[i]->key >> 32 & 0xffff,
			  points[i]->key >> 16 & 0xffff);
		present_print(out, points[i]->present);
		fputs(points[i]->key >> 48 ? "  (not armed)\n" :
					     "  (static)\n", out);
	}
	free(points);
}

void summary_print(FILE *out, const struct trace_file *file,
		   const struct match *match, struct print *print)
{
	title_print(out, file, print);
	records_print(out, file);
	complete_print(out, file, print);
	fputs("\nMajor  Minor        Hits    Recorded     Present Overwritten"
	      "    Filtered     Dropped      Missed      Faults  TDF\n", out);
	for (size_t i = 0; i < file->session_count; i++)
		session_print(out, &file->sessions[i], match,
			      file->damage.count);
	others_print(out, match);
}

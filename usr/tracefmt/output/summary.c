// SPDX-License-Identifier: GPL-2.0
#include "summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/key_map.h"
#include "lib/names.h"

/* Of a minor, or (-1) of all of a major, in all traces: records that were
 * overwritten, and hits that were dropped. */
struct summary_lost {
	uint64_t records;
	bool known;
};

typedef unsigned long long ull;

enum summary_by summary_by_name(const char *name)
{
	static const char *const names[SUMMARY_KINDS] = {
		[SUMMARY_PID] = "pid", [SUMMARY_MAJOR] = "major",
		[SUMMARY_MINOR] = "minor",
	};

	for (enum summary_by i = SUMMARY_ALL + 1; name && i < SUMMARY_KINDS;
	     i++)
		if (!strcmp(names[i], name))
			return i;
	return name ? SUMMARY_KINDS : SUMMARY_ALL;
}

static void time_print(FILE *out, struct clock *clock, int64_t time)
{
	char text[CLOCK_MAX];

	fwrite(text, 1, clock_put(clock, time, text) - text, out);
}

static int64_t summary_wall(const struct trace_file *file, uint64_t time)
{
	return (int64_t)(time + (uint64_t)file->header.wall_offset);
}

static void summary_title(FILE *out, const struct trace_file *file,
			  const struct clock *clock)
{
	char date[64];

	clock_date(clock, summary_wall(file, file->header.taken), date,
		   sizeof(date));
	fprintf(out, "Trace of ");
	safe_text_print(out, file->host, false);
	fprintf(out, ", Linux ");
	safe_text_print(out, file->kernel, false);
	fprintf(out, ", taken %s\n", date);
	if (!file->panicked)
		return;
	fprintf(out, "Its kernel panicked: ");
	safe_text_print(out, file->panic.reason, false);
	fputc('\n', out);
}

static void complete_print(FILE *out, const struct trace_file *file,
			   struct clock *clock)
{
	const struct trace_slice *latest = NULL;

	/* A slice that has published more than is there has overwritten, or
	 * cleared, the oldest records: before its first record, or the one after
	 * the last gap, the trace has gaps. */
	for (size_t i = 0; i < file->slices.count; i++) {
		const struct trace_slice *slice = file->slices.items[i];

		if ((slice->gaps || (slice->wrapped && slice->found)) &&
		    (!latest || slice->oldest > latest->oldest))
			latest = slice;
	}
	if (file->damage.count) {
		fprintf(out, "Not complete: the file is damaged\n");
	} else if (latest) {
		fputs("Complete from ", out);
		time_print(out, clock, summary_wall(file, latest->oldest));
		fprintf(out, " on, the oldest record of CPU %u%s\n",
			latest->cpu, latest->gaps ? " after its last gap" : "");
	} else if (file->continued) {
		fputs("Complete from ", out);
		time_print(out, clock, summary_wall(file, file->began));
		fputs(" on, where the file before it ended\n", out);
	} else {
		fprintf(out, "Complete from its start\n");
	}
}

static void summary_records(FILE *out, const struct trace_file *file,
			    uint64_t late)
{
	ull found = 0, dropped = 0, gaps = 0;
	ull lost = file->pass.lost - file->lost_base;

	for (size_t i = 0; i < file->slices.count; i++) {
		const struct trace_slice *slice = file->slices.items[i];

		found += slice->found;
		gaps += slice->gaps;
		dropped += slice->dropped - slice->dropped_base;
	}
	fprintf(out, "%llu records, %llu hits dropped by busy slices\n", found,
		dropped);
	if (lost || gaps)
		fprintf(out, "%llu records overwritten before they were spooled",
			lost);
	if (gaps)
		fprintf(out, ", in %llu place%s", gaps, gaps == 1 ? "" : "s");
	if (lost || gaps)
		fputc('\n', out);
	if (late)
		fprintf(out, "%llu records came too late to be in the order of time\n",
			(ull)late);
}

static void summary_row_start(FILE *out, unsigned int major, unsigned int minor)
{
	fprintf(out, "%5u %6u", major, minor);
}

static void summary_figure(FILE *out, bool known, uint64_t value)
{
	if (known)
		fprintf(out, " %11llu", (ull)value);
	else
		fprintf(out, " %11s", "unknown");
}

/* ---- figures ---- */

/* Of the time that the file covers. */
static uint64_t figure_covered(uint64_t total, uint64_t base)
{
	return total > base ? total - base : 0;
}

static void covered_all(uint64_t *sum, const __u64 *totals, const __u64 *base,
			size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] = figure_covered(totals[i], base[i]);
}

/* A tracepoint's, or a static major's. */
struct summary_figures {
	uint64_t recorded, present, dropped, missed, paged_in;
	uint64_t aggregated;	/* hits without a record */
	uint64_t filtered[RAS_FILTERED_KINDS], faults[RAS_FAULT_KINDS];
};

static struct summary_figures figures_of(const struct ras_count_total *t,
					 const struct ras_count_total *base)
{
	static const struct ras_count_total none;
	struct summary_figures f;

	base = base ? base : &none;
	f.present = f.aggregated = 0;
	f.recorded = figure_covered(t->recorded, base->recorded);
	f.dropped = figure_covered(t->dropped, base->dropped);
	f.missed = t->missed == RAS_MISSED_UNKNOWN ||
		   base->missed == RAS_MISSED_UNKNOWN ? RAS_MISSED_UNKNOWN :
		   figure_covered(t->missed, base->missed);
	f.paged_in = figure_covered(t->why.paged_in, base->why.paged_in);
	covered_all(f.filtered, t->why.filtered, base->why.filtered,
		    RAS_FILTERED_KINDS);
	covered_all(f.faults, t->why.faults, base->why.faults,
		    RAS_FAULT_KINDS);
	return f;
}

static uint64_t sum_of(const uint64_t *figures, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += figures[i];
	return sum;
}

/*
 * What was recorded, as the sequence numbers prove. Of a spool's file that is
 * all: its counters are ahead of its last record. Else the records may be
 * ahead of the counters, which are read before.
 */
static uint64_t recorded_here(const struct match *match,
			      const struct match_point *point,
			      uint64_t counted)
{
	const struct trace_file *file = match->file;
	uint64_t reached;

	if (!point)
		return file->spooled && file->pass.lost == file->lost_base ?
		       0 : counted;
	reached = point->reached;
	if (file->continued)
		reached -= point->before;
	return file->spooled || counted < reached ? reached : counted;
}

static struct summary_figures point_figures(const struct trace_session *session,
					    uint32_t i,
					    const struct match *match)
{
	const struct match_point *point = match_armed(match, session, i);
	struct summary_figures f = figures_of(
		&session->totals[i], session->base ? &session->base[i] : NULL);

	f.present = point ? point->present : 0;
	f.recorded = recorded_here(match, point, f.recorded);
	f.aggregated = aggregates_hits(&session->aggregates, i);
	return f;
}

static void figures_print(FILE *out, const struct summary_figures *f,
			  bool damaged)
{
	uint64_t filtered = sum_of(f->filtered, RAS_FILTERED_KINDS);

	summary_figure(out, true, f->recorded + filtered + f->dropped +
		       f->aggregated);
	summary_figure(out, true, f->recorded);
	summary_figure(out, true, f->present);
	/* What a damaged file has not was not overwritten. */
	summary_figure(out, !damaged, figure_covered(f->recorded, f->present));
	summary_figure(out, true, filtered);
	summary_figure(out, true, f->dropped);
	summary_figure(out, f->missed != RAS_MISSED_UNKNOWN, f->missed);
	summary_figure(out, true, sum_of(f->faults, RAS_FAULT_KINDS));
}

/* The figures are not in the trace. */
static void present_print(FILE *out, uint64_t present)
{
	fprintf(out, " %11s %11s %11llu", "-", "-", (ull)present);
	fprintf(out, " %11s %11s %11s %11s %11s", "-", "-", "-", "-", "-");
}

static bool figures_idle(const struct summary_figures *f)
{
	return !f->recorded && !f->present && !f->dropped && !f->aggregated &&
	       !sum_of(f->filtered, RAS_FILTERED_KINDS) &&
	       !sum_of(f->faults, RAS_FAULT_KINDS) &&
	       (!f->missed || f->missed == RAS_MISSED_UNKNOWN);
}

static void summary_session(FILE *out, const struct trace_session *session,
			    const struct match *match, bool damaged)
{
	uint32_t idle = 0;

	for (uint32_t i = 0; i < session->entry->points; i++) {
		const struct match_point *point = match_armed(match, session, i);
		const struct ras_session_point *armed = &session->points[i];
		struct summary_figures f = { 0 };

		if (session->totals)
			f = point_figures(session, i, match);
		if (session->totals && figures_idle(&f)) {
			idle += armed->state != RAS_POINT_UNSELECTED;
			continue;
		}
		summary_row_start(out, session->entry->major, armed->minor);
		if (session->totals)
			figures_print(out, &f, damaged);
		else
			present_print(out, point ? point->present : 0);
		fputs("  ", out);
		safe_text_print(out, session->tdf, false);
		fputc('\n', out);
	}
	if (!idle)
		return;
	fprintf(out, "%5u      - %u tracepoint%s without a hit  ",
		session->entry->major, idle, idle == 1 ? "" : "s");
	safe_text_print(out, session->tdf, false);
	fputc('\n', out);
}

/* ---- static majors ---- */

static uint64_t major_present(const struct match *match, unsigned int major)
{
	const struct match_point *point;
	uint64_t present = 0;
	size_t at = 0;

	while ((point = key_map_next(&match->points, &at)))
		if (point->key >> 32 == major)
			present += point->present;
	return present;
}

static struct summary_figures major_figures(const struct trace_file *file,
					    unsigned int major,
					    const struct match *match)
{
	const struct trace_session *majors = &file->majors;
	struct summary_figures f =
		figures_of(&majors->totals[major],
			   majors->base ? &majors->base[major] : NULL);

	f.present = major_present(match, major);
	if (f.recorded < f.present)
		f.recorded = f.present;
	return f;
}

static int summary_point_compare(const void *a, const void *b)
{
	const struct match_point *const *x = a, *const *y = b;

	return (*x)->key < (*y)->key ? -1 : (*x)->key > (*y)->key;
}

/* Records of no armed tracepoint, and static ones without figures: nothing but
 * present. 0 or -ENOMEM. */
static int summary_others(FILE *out, const struct match *match)
{
	bool counted = match->file->majors.totals;
	struct match_point **points = calloc(match->points.count + 1,
					     sizeof(*points)), *point;
	size_t n = 0, at = 0;

	if (!points)
		return -ENOMEM;
	while ((point = key_map_next(&match->points, &at)))
		if (!point->armed && (!counted || point->key >> 48))
			points[n++] = point;
	if (n)
		qsort(points, n, sizeof(*points), summary_point_compare);
	for (size_t i = 0; i < n; i++) {
		summary_row_start(out, points[i]->key >> 32 & 0xffff,
				  points[i]->key >> 16 & 0xffff);
		present_print(out, points[i]->present);
		fputs(points[i]->key >> 48 ? "  (not armed)\n" :
					     "  (static)\n", out);
	}
	free(points);
	return 0;
}

/* ---- why ---- */

/* "filtered: 3 suspended, 1 condition" */
static const char *summary_kinds(FILE *out, const char *before,
				 const char *title, const uint64_t *figures,
				 const char *const *names, size_t n)
{
	const char *between = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!figures[i])
			continue;
		if (!between)
			fprintf(out, "%s%s: ", before, title);
		fprintf(out, "%s%llu %s", between ? between : "",
			(ull)figures[i], names[i] ? names[i] : "unknown");
		between = ", ";
	}
	return between ? "; " : before;
}

/* By itself, not by `trace off`. */
static bool point_ended(const struct ras_session_point *point)
{
	return point->state > RAS_POINT_OFF;
}

static bool why_wanted(const struct summary_figures *f)
{
	return sum_of(f->filtered, RAS_FILTERED_KINDS) ||
	       sum_of(f->faults, RAS_FAULT_KINDS) || f->paged_in;
}

static void why_title(FILE *out, bool *printed)
{
	if (!*printed)
		fputs("\nMajor  Minor  Why not recorded, and what was not read\n",
		      out);
	*printed = true;
}

/* Returns what separates the next reason. */
static const char *why_print(FILE *out, const struct summary_figures *f)
{
	const char *before = "  ";

	before = summary_kinds(out, before, "filtered", f->filtered,
			       names_filtered, RAS_FILTERED_KINDS);
	before = summary_kinds(out, before, "faults", f->faults, names_fault,
			       RAS_FAULT_KINDS);
	if (!f->paged_in)
		return before;
	fprintf(out, "%spaged in: %llu", before, (ull)f->paged_in);
	return "; ";
}

static void session_why(FILE *out, const struct trace_session *session,
			const struct match *match, struct clock *clock,
			bool *printed)
{
	for (uint32_t i = 0; i < session->entry->points; i++) {
		const struct ras_session_point *point = &session->points[i];
		struct summary_figures f = point_figures(session, i, match);
		const char *before;

		if (!why_wanted(&f) && !point_ended(point))
			continue;
		why_title(out, printed);
		summary_row_start(out, session->entry->major, point->minor);
		before = why_print(out, &f);
		if (point_ended(point)) {
			fprintf(out, "%sended: %s at ", before,
				names_point_state(point->state));
			time_print(out, clock,
				   summary_wall(match->file, point->ended));
		}
		fputc('\n', out);
	}
}

static int counters_print(FILE *out, const struct trace *trace,
			  struct clock *clock)
{
	const struct trace_file *file = &trace->file;
	const struct match *match = &trace->match;
	int code;
	bool printed;

	fputs("\nMajor  Minor        Hits    Recorded     Present Overwritten"
	      "    Filtered     Dropped      Missed      Faults  TDF\n", out);
	for (size_t i = 0; i < file->session_count; i++)
		summary_session(out, file->sessions[i], match,
				file->damage.count);
	if (file->majors.totals) {
		for (unsigned int major = 0; major < RAS_STATIC_MAJORS;
		     major++) {
			struct summary_figures f =
				major_figures(file, major, match);

			if (figures_idle(&f))
				continue;
			fprintf(out, "%5u      -", major);
			figures_print(out, &f, file->damage.count);
			fputs("  (static)\n", out);
		}
	}
	code = summary_others(out, match);
	printed = false;
	for (size_t i = 0; i < file->session_count; i++)
		if (file->sessions[i]->totals)
			session_why(out, file->sessions[i], match, clock,
				    &printed);
	for (unsigned int major = 0; file->majors.totals &&
	     major < RAS_STATIC_MAJORS; major++) {
		struct summary_figures f = major_figures(file, major, match);

		if (!why_wanted(&f))
			continue;
		why_title(out, &printed);
		fprintf(out, "%5u      -", major);
		why_print(out, &f);
		fputc('\n', out);
	}
	return code;
}

/* What a trace is; if it was read to its end also how many records it has, and
 * from when on it is complete. */
static void summary_head(FILE *out, const struct trace *trace, bool whole,
			 struct clock *clock)
{
	summary_title(out, &trace->file, clock);
	if (!whole)
		return;
	summary_records(out, &trace->file, trace->late);
	complete_print(out, &trace->file, clock);
}

int summary_print(FILE *out, const struct stream *stream, struct clock *clock)
{
	int code = 0;

	for (size_t i = 0; i < stream->count && !code; i++) {
		summary_head(out, stream->traces[i], true, clock);
		code = counters_print(out, stream->traces[i], clock);
	}
	return code;
}

/* ---- what was lost ---- */

static void lost_add(struct summary_lost *lost, const struct summary_figures *f)
{
	lost->records += figure_covered(f->recorded, f->present) + f->dropped;
}

static void session_lost(struct summary_lost *lost,
			 const struct trace_session *session,
			 const struct match *match, int minor)
{
	for (uint32_t i = 0; i < session->entry->points; i++) {
		struct summary_figures f;

		if (minor >= 0 && session->points[i].minor != minor)
			continue;
		if (!session->totals) {
			lost->known = false;
			return;
		}
		f = point_figures(session, i, match);
		lost_add(lost, &f);
	}
}

/* Static records are counted by major. */
static void trace_lost(struct summary_lost *lost, const struct trace *trace,
		       unsigned int major, int minor)
{
	const struct trace_file *file = &trace->file;
	struct summary_figures f;

	for (size_t i = 0; i < file->session_count; i++)
		if (file->sessions[i]->entry->major == major)
			session_lost(lost, file->sessions[i], &trace->match,
				     minor);
	if (file->damage.count || !trace->ended)
		lost->known = false;
	if (!file->majors.totals || major >= RAS_STATIC_MAJORS)
		return;
	f = major_figures(file, major, &trace->match);
	if (minor < 0)
		lost_add(lost, &f);
	else if (f.recorded)
		lost->known = false;
}

static struct summary_lost summary_lost(const struct stream *stream,
					unsigned int major, int minor)
{
	struct summary_lost lost = { .known = true };

	for (size_t i = 0; i < stream->count; i++)
		trace_lost(&lost, stream->traces[i], major, minor);
	return lost;
}

/*
 * Figures of the events that were given out, by process, major or minor:
 *
 *	Chosen: 250 of 1000 events, 12.5 a second, from 18:07:30.000000000 ...
 *
 *	Major  Minor      Events    A second        Peak        Lost  Firs ...
 *	  197      1         125         6.3          40           0  18:0 ...
 *
 * A second: of the time from the first of all these events to the last; Peak:
 * the most in one second of the clock; Lost: overwritten or dropped, of the
 * whole trace.
 */

#define SELECTED_ROWS	65536	/* more of them are counted as one */

#define SECOND		1000000000.0

typedef unsigned long long ull;

struct selected_row {
	uint64_t key;
	uint64_t events;
	int64_t first, last;	/* the earliest and the latest */
	int64_t second;		/* of the clock, that `now` counts */
	uint64_t now, peak;
	const struct trace *trace;	/* of the first event */
	const struct match_point *point;
	char comm[16];
};

struct selected {
	enum summary_by by;
	const struct stream *stream;
	bool stopped;
	struct selected_row all;
	struct selected_row others;	/* those without a row of their own */
	struct selected_row *rows;
	size_t count, room;
	struct key_map numbers;	/* index in rows + 1, by key */
};

struct selected *selected_open(enum summary_by by, const struct stream *stream)
{
	struct selected *selected = calloc(1, sizeof(*selected));

	if (!selected)
		return NULL;
	selected->by = by == SUMMARY_ALL ? SUMMARY_MINOR : by;
	selected->stream = stream;
	return selected;
}

void selected_close(struct selected *selected)
{
	if (!selected)
		return;
	free(selected->rows);
	key_map_free(&selected->numbers);
	free(selected);
}

void selected_stop(struct selected *selected)
{
	selected->stopped = true;
}

/* ---- counting ---- */

/* NULL: no memory. */
static struct selected_row *row_find(struct selected *selected, uint64_t key)
{
	size_t number = key_map_number(&selected->numbers, key);

	if (number)
		return &selected->rows[number - 1];
	if (selected->count == SELECTED_ROWS)
		return &selected->others;
	number = selected->count + 1;
	if (!array_grow(&selected->rows, selected->count, &selected->room,
			sizeof(*selected->rows)) ||
	    key_map_add(&selected->numbers, key, (void *)number))
		return NULL;
	selected->rows[selected->count] = (struct selected_row){ .key = key };
	return &selected->rows[selected->count++];
}

static void row_count(struct selected_row *row, const struct event *event)
{
	int64_t second = clock_second(event->time);
	const char *comm;

	if (!row->events++) {
		comm = event_comm(event);
		row->first = row->last = event->time;
		row->trace = event->trace;
		row->point = event->point;
		if (comm)
			memcpy(row->comm, comm, sizeof(row->comm));
	}
	if (event->time < row->first)
		row->first = event->time;
	if (event->time > row->last)
		row->last = event->time;
	if (second != row->second)
		row->now = 0;
	row->second = second;
	if (++row->now > row->peak)
		row->peak = row->now;
}

/* The index of the first trace of its machine. */
static uint64_t selected_machine(const struct stream *stream,
				 const struct trace *trace)
{
	uint32_t i = 0;

	while (i < trace->index &&
	       strcmp(stream->traces[i]->file.host, trace->file.host))
		i++;
	return i;
}

/* Processes of several machines may have the same number. */
static uint64_t key_of(const struct selected *selected,
		       const struct event *event)
{
	const struct ras_record *record = event->record;

	if (selected->by == SUMMARY_PID)
		return selected_machine(selected->stream, event->trace) << 32 |
		       record->pid;
	if (selected->by == SUMMARY_MAJOR)
		return record->major;
	return (uint64_t)record->major << 16 | record->minor;
}

int selected_add(struct selected *selected, const struct event *event)
{
	struct selected_row *row = row_find(selected, key_of(selected, event));

	if (!row)
		return -ENOMEM;
	row_count(row, event);
	row_count(&selected->all, event);
	return 0;
}

/* ---- printing ---- */

static double rate_of(const struct selected *selected, uint64_t events)
{
	double time = (double)selected->all.last - (double)selected->all.first;

	return time > 0 ? events / (time / SECOND) : events;
}

static void all_print(FILE *out, const struct selected *selected,
		      struct clock *clock)
{
	const struct selected_row *all = &selected->all;

	fprintf(out, "Chosen: %llu of %llu events%s", (ull)all->events,
		(ull)selected->stream->number,
		selected->stopped ? " read" : "");
	if (all->events) {
		fprintf(out, ", %.1f a second, from ",
			rate_of(selected, all->events));
		time_print(out, clock, all->first);
		fputs(" to ", out);
		time_print(out, clock, all->last);
	}
	fputc('\n', out);
}

static void lost_print(FILE *out, const struct selected *selected,
		       const struct selected_row *row)
{
	struct summary_lost lost;

	if (selected->by == SUMMARY_PID)
		return;
	if (selected->by == SUMMARY_MAJOR)
		lost = summary_lost(selected->stream, row->key, -1);
	else
		lost = summary_lost(selected->stream, row->key >> 16,
				    (uint16_t)row->key);
	summary_figure(out, lost.known && !selected->stopped, lost.records);
}

static void selected_row_print(FILE *out, const struct selected *selected,
			       const struct selected_row *row,
			       struct clock *clock)
{
	const struct match_point *point = row->point;
	unsigned int major;
	size_t length;
	char safe[4 * sizeof(row->comm)];
	int n;

	major = selected->by == SUMMARY_MAJOR ? row->key : row->key >> 16;
	if (selected->by == SUMMARY_PID) {
		fprintf(out, "%10u  ", (uint32_t)row->key);

		/* In 16 columns. */
		length = strnlen(row->comm, sizeof(row->comm));
		n = text_put_safe(safe, row->comm, length) - safe;
		fprintf(out, "%-16.*s", n, safe);
	} else {
		fprintf(out, "%5u", major);
	}
	if (selected->by == SUMMARY_MINOR)
		fprintf(out, " %6u", (uint16_t)row->key);
	fprintf(out, " %11llu %11.1f %11llu", (ull)row->events,
		rate_of(selected, row->events), (ull)row->peak);
	lost_print(out, selected, row);
	fputs("  ", out);
	time_print(out, clock, row->first);
	fputs("  ", out);
	time_print(out, clock, row->last);
	fputs("  ", out);
	if (selected->by == SUMMARY_MINOR)
		fwrite(point->title, 1, point->title_length - 1, out);
	else if (selected->by == SUMMARY_PID)
		safe_text_print(out, row->trace->file.host, false);
	fputc('\n', out);
}

/* The most events first. */
static int selected_compare(const void *a, const void *b)
{
	const struct selected_row *x = a, *y = b;

	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

void selected_print(FILE *out, struct selected *selected, struct clock *clock)
{
	static const char *const titles[SUMMARY_KINDS] = {
		[SUMMARY_PID] = "       PID  Process         ",
		[SUMMARY_MAJOR] = "Major",
		[SUMMARY_MINOR] = "Major  Minor",
	};
	const struct stream *stream = selected->stream;

	for (size_t i = 0; i < stream->count; i++)
		summary_head(out, stream->traces[i], !selected->stopped, clock);
	if (selected->stopped)
		fputs("Not read to the end: no more could be chosen\n", out);
	all_print(out, selected, clock);
	if (!selected->all.events)
		return;
	qsort(selected->rows, selected->count, sizeof(*selected->rows),
	      selected_compare);
	fprintf(out, "\n%s %11s %11s %11s", titles[selected->by], "Events",
		"A second", "Peak");
	if (selected->by != SUMMARY_PID)
		fprintf(out, " %11s", "Lost");
	fprintf(out, "  %-18s  %-18s%s\n", "First", "Last",
		selected->by == SUMMARY_MINOR ? "  DESC" :
		selected->by == SUMMARY_PID ? "  Host" : "");
	for (size_t i = 0; i < selected->count; i++)
		selected_row_print(out, selected, &selected->rows[i], clock);
	if (selected->others.events)
		fprintf(out, "and %llu events of others\n",
			(ull)selected->others.events);
}

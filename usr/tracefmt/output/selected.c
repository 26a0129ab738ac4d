// SPDX-License-Identifier: GPL-2.0
#include "selected.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/key_map.h"

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

static void safe_print(FILE *out, const char *text, size_t length)
{
	char safe[4 * 256];

	length = length < 256 ? length : 256;
	fwrite(safe, 1, text_put_safe(safe, text, length) - safe, out);
}

static void time_print(FILE *out, struct clock *clock, int64_t time)
{
	char text[CLOCK_MAX];

	fwrite(text, 1, clock_put(clock, time, text) - text, out);
}

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
	if (lost.known && !selected->stopped)
		fprintf(out, " %11llu", (ull)lost.records);
	else
		fprintf(out, " %11s", "unknown");
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
		safe_print(out, row->trace->file.host,
			   strlen(row->trace->file.host));
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

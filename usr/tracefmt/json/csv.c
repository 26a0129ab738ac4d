// SPDX-License-Identifier: GPL-2.0
/*
 * Events as rows of a table (RFC 4180): a row of names, then a row for each
 * event. Without --fields the columns are those of `standard`, and all fields
 * of the data stand in one of them: EIP=49997 name="app.conf". Text is made fit
 * for a terminal (safe_text.h); where it begins like a formula of a spreadsheet
 * an apostrophe stands in front.
 */
#include <errno.h>
#include <stdlib.h>
#include "lib/read/read.h"
#include "csv_cell.h"
#include "csv_field.h"
#include "json_context.h"

static const enum column standard[] = {
	COLUMN_EVENT, COLUMN_TIME, COLUMN_HOST, COLUMN_TRACE, COLUMN_MAJOR,
	COLUMN_MINOR, COLUMN_DESC, COLUMN_PID, COLUMN_TID, COLUMN_COMM,
	COLUMN_CPU, COLUMN_LENGTH, COLUMN_FLAGS, COLUMN_FIELDS, COLUMN_DATA,
};

#define CELL_ROOM	512	/* of what has a bounded length */

struct csv {
	struct columns columns;
	bool given;		/* an event was given out */
};

/* ---- columns ---- */

/* In scratch->more: the date is dear, and seconds last. */
struct csv_thread {
	int64_t second;
	char date[CLOCK_MAX];	/* "2026-02-03T18:07:32." of it; empty: none */
};

#define DATE_LENGTH	20

static char *iso_put(struct csv_thread *thread, int64_t time, char *p)
{
	int64_t second = clock_second(time);

	if (second != thread->second || !thread->date[0]) {
		clock_put_iso(time, thread->date);
		thread->second = second;
	}
	p = text_put(p, thread->date, DATE_LENGTH);
	p = text_put_padded(p, time - second * 1000000000, 9);
	return TEXT_PUT(p, "Z");
}

static int time_add(const struct csv_row *row)
{
	struct clock *clock = &row->scratch->clock;
	char *p;

	if (text_reserve(row->text, CLOCK_MAX))
		return -ENOMEM;
	p = row->text->data + row->text->used;
	p = clock->relative ? clock_put(clock, row->event->time, p) :
			      iso_put((void *)row->scratch->more,
				      row->event->time, p);
	row->text->used = p - row->text->data;
	return 0;
}

static int time_ns_add(const struct csv_row *row)
{
	char *p;

	if (text_reserve(row->text, CELL_ROOM))
		return -ENOMEM;
	p = row->text->data + row->text->used;
	row->text->used = number_put_signed(p, row->event->time, 64) -
			  row->text->data;
	return 0;
}

static int desc_add(const struct csv_row *row)
{
	const struct match_point *point = row->event->point;
	const char *desc;

	if (!point->formatted)
		return 0;
	desc = tff_string(point->tff, point->entry->desc);
	return csv_cell_safe(row->text, desc, strlen(desc));
}

static int group_add(const struct csv_row *row)
{
	const struct match_point *point = row->event->point;
	const char *name = match_point_group(point);

	if (*name)
		return csv_cell_safe(row->text, name, strlen(name));
	return point->formatted && point->entry->group ?
	       csv_cell_number(row->text, point->entry->group) : 0;
}

static int types_add(const struct csv_row *row)
{
	const struct match_point *point = row->event->point;
	const char *blank = "";
	int code = 0;

	for (unsigned int bit = 0; !code && point->formatted && bit < 16;
	     bit++) {
		const char *name = match_point_type(point, bit);

		if (!(point->entry->type & 1u << bit))
			continue;
		code = csv_cell_word(row->text, blank);
		if (!code)
			code = *name ? csv_cell_safe(row->text, name,
						     strlen(name)) :
				       csv_cell_number(row->text, 1u << bit);
		blank = " ";
	}
	return code;
}

static int comm_add(const struct csv_row *row)
{
	const char *comm = event_comm(row->event);

	return comm ? csv_cell_safe(row->text, comm, strnlen(comm, 16)) : 0;
}

static int flags_add(const struct csv_row *row)
{
	unsigned int flags = event_flags(row->event,
					 row->scratch->result.status,
					 row->scratch->result.misfit);
	const char *blank = "";

	for (size_t i = 0; i < EVENT_FLAGS; i++) {
		if (!(flags & 1u << i))
			continue;
		if (csv_cell_word(row->text, blank) ||
		    csv_cell_word(row->text, event_flag_words[i]))
			return -ENOMEM;
		blank = " ";
	}
	return 0;
}

static int context_add(const struct csv_row *row)
{
	struct context context = context_find(row->event->record,
					      row->event->point->context);
	struct stack_owner owner = {
		&row->event->trace->file.processes, row->event->record->pid,
		row->output->settings->symbols,
	};

	if (!context.mask || context.misfit)
		return 0;
	return json_context_put(&context, owner, row->text);
}

/* As a column of its own, all of them; else those that fields don't tell. */
static int data_add(const struct csv_row *row)
{
	const struct csv *csv = row->output->own;
	struct event_data data = event_data(row->event);
	size_t start = row->text->used;
	bool told = row->event->point->formatted &&
		    row->event->point->format.takes_data &&
		    !row->scratch->result.misfit;

	if (!data.length || (told && !csv->columns.count &&
			     !row->output->settings->hex))
		return 0;
	if (text_reserve(row->text, JSON_HEX_ROOM(data.length)))
		return -ENOMEM;
	row->text->used = json_put_hex(row->text->data + start, data.data,
				       data.length) - row->text->data;
	csv_cell_unquote(row->text, start);
	return 0;
}

static int number_column_add(const struct csv_row *row, enum column column)
{
	const struct ras_record *record = row->event->record;

	switch (column) {
	case COLUMN_EVENT:
		return csv_cell_number(row->text, row->event->number);
	case COLUMN_BOOT_NS:
		return csv_cell_number(row->text, record->time);
	case COLUMN_MAJOR:
		return csv_cell_number(row->text, record->major);
	case COLUMN_MINOR:
		return csv_cell_number(row->text, record->minor);
	case COLUMN_PID:
		return csv_cell_number(row->text, record->pid);
	case COLUMN_TID:
		return csv_cell_number(row->text, record->tid);
	case COLUMN_CPU:
		return csv_cell_number(row->text, row->event->cpu);
	default:
		return csv_cell_number(row->text,
				       event_data(row->event).length);
	}
}

static int trace_column_add(const struct csv_row *row, enum column column)
{
	const struct trace *trace = row->event->trace;
	const char *name = column == COLUMN_HOST ? trace->file.host :
						   trace->name;

	return csv_cell_safe(row->text, name, strlen(name));
}

static int column_add(struct csv_row *row, enum column column)
{
	switch (column) {
	case COLUMN_TIME:
		return time_add(row);
	case COLUMN_TIME_NS:
		return time_ns_add(row);
	case COLUMN_HOST:
	case COLUMN_TRACE:
		return trace_column_add(row, column);
	case COLUMN_DESC:
		return desc_add(row);
	case COLUMN_GROUP:
		return group_add(row);
	case COLUMN_TYPES:
		return types_add(row);
	case COLUMN_COMM:
		return comm_add(row);
	case COLUMN_FLAGS:
		return flags_add(row);
	case COLUMN_CONTEXT:
		return context_add(row);
	case COLUMN_FIELDS:
		return csv_field_all(row);
	case COLUMN_NOTES:
		return csv_field_notes(row);
	case COLUMN_DATA:
		return data_add(row);
	default:
		return number_column_add(row, column);
	}
}

/* Of one trace its name says nothing. */
static bool standard_has(const struct output *output, enum column column)
{
	return (column != COLUMN_HOST && column != COLUMN_TRACE) ||
	       output->stream->count > 1;
}

/* ---- rows ---- */

/* Digits and signs, which stand in no quotes */
static bool is_number(enum column column)
{
	return column == COLUMN_EVENT || column == COLUMN_TIME_NS ||
	       column == COLUMN_BOOT_NS || column == COLUMN_MAJOR ||
	       column == COLUMN_MINOR || column == COLUMN_PID ||
	       column == COLUMN_TID || column == COLUMN_CPU ||
	       column == COLUMN_LENGTH;
}

static int cell_add(struct csv_row *row, enum column column,
		    struct columns_item *item, bool first)
{
	size_t start;
	int code;

	if (!first && csv_cell_char(row->text, ','))
		return -ENOMEM;
	start = row->text->used;
	code = item && column == COLUMN_FIELD ? csv_field_named(row, item) :
						column_add(row, column);
	return code || is_number(column) ? code :
					   csv_cell_end(row->text, start);
}

static int csv_event(struct output *output, const struct event *event,
		     struct text *text, struct scratch *scratch)
{
	struct csv *csv = output->own;
	struct csv_row row = {
		.output = output, .event = event, .scratch = scratch,
		.text = text, .budget = VALUE_BUDGET,
	};
	int code = output_decode(event, scratch, NULL);

	__atomic_store_n(&csv->given, true, __ATOMIC_RELAXED);
	for (size_t i = 0; !code && i < csv->columns.count; i++)
		code = cell_add(&row, csv->columns.items[i].column,
				&csv->columns.items[i], !i);
	for (size_t i = 0; !code && !csv->columns.count &&
			   i < sizeof(standard) / sizeof(*standard); i++)
		if (standard_has(output, standard[i]))
			code = cell_add(&row, standard[i], NULL, !i);
	return code ? code : csv_cell_word(text, "\r\n");
}

/* The row of names. */
static int names_add(const struct output *output, struct text *text)
{
	const struct csv *csv = output->own;
	int code = 0;

	for (size_t i = 0; !code && i < csv->columns.count; i++) {
		const struct columns_item *item = &csv->columns.items[i];
		size_t start;

		code = i ? csv_cell_char(text, ',') : 0;
		start = text->used;
		if (!code)
			code = csv_cell_safe(text, item->name, item->length);
		if (!code)
			code = csv_cell_end(text, start);
	}
	for (size_t i = 0; !code && !csv->columns.count &&
			   i < sizeof(standard) / sizeof(*standard); i++) {
		if (!standard_has(output, standard[i]))
			continue;
		code = i ? csv_cell_char(text, ',') : 0;
		if (!code)
			code = csv_cell_word(text, column_words[standard[i]]);
	}
	return code ? code : csv_cell_word(text, "\r\n");
}

static int csv_open(struct output *output, struct text *text,
		    struct error *err)
{
	struct csv *csv = calloc(1, sizeof(*csv));
	int code;

	output->own = csv;
	if (!csv)
		return -ENOMEM;
	code = columns_parse(&csv->columns, output->settings, err);
	return code ? code : names_add(output, text);
}

static int csv_close(struct output *output, struct text *text,
		     struct error *err)
{
	struct csv *csv = output->own;

	return csv->given ? columns_check(&csv->columns, err) : 0;
}

static void csv_free(struct output *output)
{
	struct csv *csv = output->own;

	if (csv)
		columns_free(&csv->columns);
	free(csv);
}

const struct output_ops output_csv = {
	.name = "csv",
	.open = csv_open,
	.event = csv_event,
	.close = csv_close,
	.free = csv_free,
};

// SPDX-License-Identifier: GPL-2.0
/*
 * Events as rows of a table (RFC 4180): a row of names, then a row for each
 * event. The columns are those of --fields, or `standard`, which are the members
 * of --format=json; what is an object there is its JSON text here.
 *
 * A row is made by a plan of its tracepoint: text that all its rows have, and
 * between it the cells that differ.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/read/read.h"
#include "tracefmt/output/cell.h"
#include "tracefmt/output/per_point.h"
#include "csv_cell.h"
#include "json_plain.h"
#include "json_values.h"

/* ---- the table ---- */

static const enum column standard[] = {
	COLUMN_SCHEMA, COLUMN_EVENT, COLUMN_TIME, COLUMN_TIME_NS,
	COLUMN_BOOT_NS, COLUMN_HOST, COLUMN_TRACE, COLUMN_MAJOR, COLUMN_MINOR,
	COLUMN_DESC, COLUMN_GROUP, COLUMN_TYPES, COLUMN_PID, COLUMN_TID,
	COLUMN_COMM, COLUMN_CPU, COLUMN_LENGTH, COLUMN_FLAGS, COLUMN_CONTEXT,
	COLUMN_FIELDS, COLUMN_NOTES, COLUMN_DATA,
};

/* In front of a cell of an event. */
struct csv_step {
	enum column column;	/* COLUMN_NONE: the row's end */
	uint32_t field;		/* FIELD: its index */
	uint32_t at, length;	/* of the text in csv_plan */
};

#define CELL_ROOM	64	/* of a number or time */

struct csv_plan {
	struct text text;	/* of all steps, and TEXT_SLACK */
	struct csv_step *steps;
	size_t count;
	bool decodes;		/* a cell needs the record's pieces */
	bool notes_first;	/* of the cells that have notes */
	size_t room;		/* of the text, and of what csv_number_put()
				 * writes */
	struct json_keys keys;
	struct json_plain *plain;	/* NULL: records never are */
};

struct csv {
	struct columns columns;	/* those chosen, or of `standard` */
	bool chosen;
	const struct output *output;
	struct per_point plans;	/* struct csv_plan */
};

/* Text of a number that is often the same as in the row before. */
struct csv_number {
	uint64_t number;
	size_t length;		/* 0: none yet */
	char text[TEXT_SLACK];
};

/* In scratch->more. */
struct csv_thread {
	struct per_point_met met;
	char date[CLOCK_MAX];	/* "2026-02-03T18:07:32." of `second` */
	struct csv_number second, pid, tid, cpu, length;
	char name[16];		/* of a process */
	char comm[64];		/* its cell */
	size_t comm_length;	/* 0: none yet */
	uint8_t notes[JSON_FIELDS_MAX];
};

_Static_assert(sizeof(struct csv_thread) <=
	       sizeof(((struct scratch *)0)->more),
	       "scratch->more is too small");

/* ---- the plan ---- */

static void csv_types_add(const struct match_point *point, struct text *text)
{
	const char *blank = "";

	for (unsigned int bit = 0; point->formatted && bit < 16; bit++) {
		const char *name = match_point_type(point, bit);

		if (!(point->entry->type & 1u << bit))
			continue;
		text_add_string(text, blank);
		if (*name)
			csv_cell_safe(text, name, strlen(name));
		else
			text_print(text, "0x%04X", 1u << bit);
		blank = " ";
	}
}

/* Cells that are the same in all rows of a tracepoint become text of the plan;
 * false: this one isn't. */
static bool csv_constant_add(struct csv_plan *plan, const struct event *event,
			     enum column column)
{
	struct column_value value = column_value(event, column);
	struct text *text = &plan->text;
	size_t start = text->used;

	switch (column) {
	case COLUMN_TYPES:
		csv_types_add(event->point, text);
		break;
	case COLUMN_SCHEMA:
	case COLUMN_HOST:
	case COLUMN_TRACE:
	case COLUMN_MAJOR:
	case COLUMN_MINOR:
	case COLUMN_DESC:
	case COLUMN_GROUP:
		if (value.kind == COLUMN_NUMBER)
			text_add_number(text, value.number);
		else if (value.kind == COLUMN_STRING)
			csv_cell_safe(text, value.string, value.length);
		break;
	case COLUMN_CONTEXT:
		return !event->point->context;
	default:
		return false;
	}
	csv_cell_end(text, start, value.kind == COLUMN_STRING);
	return true;
}

/* Also of one that isn't whole. */
static void csv_plan_free(struct csv_plan *plan)
{
	json_keys_free(&plan->keys);
	free(plan->plain);
	free(plan->steps);
	free(plan->text.data);
	free(plan);
}

static void csv_plan_step(struct csv_plan *plan, enum column column,
			  uint32_t field, size_t *from)
{
	plan->steps[plan->count++] = (struct csv_step){
		.column = column, .field = field,
		.at = *from, .length = plan->text.used - *from,
	};
	*from = plan->text.used;
}

/* Cells of fields alone need all the pieces; else a plain record has none. */
static int csv_plan_fields(struct csv_plan *plan, const struct csv *csv,
			   const struct event *event)
{
	bool single = false, noted = false, notes = false;

	for (size_t i = 0; i < plan->count; i++) {
		enum column column = plan->steps[i].column;

		notes |= column == COLUMN_NOTES;
		plan->notes_first |= notes && (column == COLUMN_FIELD ||
					       column == COLUMN_FIELDS);
		single |= column == COLUMN_FIELD;
		noted |= column == COLUMN_FLAGS || column == COLUMN_NOTES ||
			 column == COLUMN_FIELDS ||
			 (column == COLUMN_DATA && !csv->chosen);
	}
	plan->decodes = single || noted;
	if (single || !columns_have(&csv->columns, COLUMN_FIELDS))
		return 0;
	return json_plain_make(&plan->plain, event->point, plan->keys.keys,
			       JSON_PLAIN_CELL);
}

static void *csv_plan_make(void *own, const struct event *event)
{
	struct csv *csv = own;
	const struct field_set *set = &event->point->fields;
	struct csv_plan *plan = calloc(1, sizeof(*plan));
	size_t from = 0;

	if (!plan)
		return NULL;
	plan->steps = calloc(csv->columns.count + 1, sizeof(*plan->steps));
	if (!plan->steps || text_open(&plan->text, -1) ||
	    json_keys_make(&plan->keys, event->point, &csv->columns))
		goto failed;
	for (size_t i = 0; i < csv->columns.count; i++) {
		struct columns_item *item = &csv->columns.items[i];
		const struct field *field;

		if (i)
			text_add_char(&plan->text, ',');
		if (csv_constant_add(plan, event, item->column))
			continue;
		if (item->column != COLUMN_FIELD) {
			csv_plan_step(plan, item->column, 0, &from);
			continue;
		}
		field = field_find(set, item->name, item->length);
		if (field)
			csv_plan_step(plan, COLUMN_FIELD, field - set->fields,
				      &from);
	}
	TEXT_ADD(&plan->text, "\r\n");
	csv_plan_step(plan, COLUMN_NONE, 0, &from);
	text_add_blanks(&plan->text, TEXT_SLACK);
	plan->room = plan->text.used + plan->count * CELL_ROOM;
	if (!plan->text.error && !csv_plan_fields(plan, csv, event))
		return plan;
failed:
	csv_plan_free(plan);
	return NULL;
}

/* ---- cells of an event ---- */

/* The event whose row is being made. */
struct csv_row {
	const struct output *output;
	const struct event *event;
	struct scratch *scratch;	/* with its pieces, unless it is plain */
	const struct csv_plan *plan;
	bool plain;
	struct event_data data;
	struct value_budget budget;
	struct json_values values;	/* with its notes */
	struct text *text;
};

/* The field in a cell of its own. */
static void csv_field_add(struct csv_row *row, uint32_t field)
{
	const struct field *wanted = &row->event->point->fields.fields[field];
	struct json_field of = json_field_begin(row->output, row->event,
						row->scratch, &row->budget);
	size_t start = row->text->used;
	uint8_t note;
	bool is_text;

	while (json_field_next(&of))
		if (of.field == wanted) {
			is_text = csv_value_add(&of, row->text, &note);
			csv_cell_end(row->text, start, is_text);
			json_values_note(&row->values, field, note);
			return;
		}
}

/* All fields in one, or the notes. */
static void csv_object_add(struct csv_row *row, enum column column)
{
	size_t start = row->text->used;

	if (!row->scratch->result.count || !row->plan->keys.some)
		return;
	if (column == COLUMN_FIELDS)
		json_values_add(&row->values, row->text);
	else if (row->values.noted)
		json_values_notes_add(&row->values, row->text);
	csv_cell_end(row->text, start, false);
}

static void csv_context_add(const struct csv_row *row)
{
	struct context context = context_find(row->event->record,
					      row->event->point->context);
	struct stack_owner owner = {
		&row->event->trace->file.processes, row->event->record->pid,
		row->output->settings->symbols,
	};
	size_t start = row->text->used;

	if (context.mask && !context.misfit)
		json_add_context(&context, owner, row->text);
	csv_cell_end(row->text, start, false);
}

/* Always as a column that was asked for; else where fields don't have it. */
static bool csv_has_data(const struct csv_row *row)
{
	const struct csv *csv = row->output->own;
	const struct match_point *point = row->event->point;

	return row->data.length &&
	       (!point->formatted || !point->format.takes_data ||
		row->scratch->result.misfit || csv->chosen ||
		row->output->settings->hex);
}

static void csv_data_add(const struct csv_row *row)
{
	size_t start = row->text->used;

	json_add_hex(row->text, row->data.data, row->data.length);
	csv_cell_unquote(row->text, start);
}

static char *csv_kept_put(struct csv_number *kept, uint64_t number, char *p)
{
	if (kept->number != number || !kept->length) {
		kept->number = number;
		kept->length = text_put_decimal(kept->text, number) -
			       kept->text;
	}
	return text_put_wide(p, kept->text, kept->length);
}

/* Both times end with the nanoseconds of their second. */
static char *csv_time_put(const struct csv_row *row, enum column column,
			  char *p)
{
	struct csv_thread *thread = (void *)row->scratch->more;
	struct csv_number *second = &thread->second;
	int64_t time = row->event->time;
	uint64_t rest = time - second->number * 1000000000;

	if (time < 0 && column == COLUMN_TIME_NS)
		return number_put_signed(p, time, 64);
	if (rest >= 1000000000 || !second->length) {
		csv_kept_put(second, clock_second(time), p);
		clock_put_iso(time, thread->date);
		rest = time - second->number * 1000000000;
	}
	if (column == COLUMN_TIME_NS) {
		p = text_put_wide(p, second->text, second->length);
		return text_put_nine(p, rest);
	}
	p = text_put(p, thread->date, sizeof("2026-02-03T18:07:32.") - 1);
	p = text_put_nine(p, rest);
	*p++ = 'Z';
	return p;
}

/* At p, in CELL_ROOM. */
static char *csv_number_put(const struct csv_row *row, enum column column,
			    char *p)
{
	struct csv_thread *thread = (void *)row->scratch->more;
	struct clock *clock = &row->scratch->clock;
	const struct ras_record *record = row->event->record;

	switch (column) {
	case COLUMN_EVENT:
		return text_put_decimal(p, row->event->number);
	case COLUMN_TIME:
		if (clock->relative)
			return clock_put(clock, row->event->time, p);
		/* fall through */
	case COLUMN_TIME_NS:
		return csv_time_put(row, column, p);
	case COLUMN_BOOT_NS:
		return text_put_decimal(p, record->time);
	case COLUMN_PID:
		return csv_kept_put(&thread->pid, record->pid, p);
	case COLUMN_TID:
		return csv_kept_put(&thread->tid, record->tid, p);
	case COLUMN_CPU:
		return csv_kept_put(&thread->cpu, row->event->cpu, p);
	case COLUMN_LENGTH:
		return csv_kept_put(&thread->length, row->data.length, p);
	default:
		return p;
	}
}

/* The name of the row before is made once. */
static void csv_comm_add(const struct csv_row *row)
{
	struct csv_thread *thread = (void *)row->scratch->more;
	const char *name = event_comm(row->event);
	struct text *text = row->text;
	size_t start = text->used;

	if (!name)
		return;
	if (!thread->comm_length || memcmp(name, thread->name, sizeof(thread->name))) {
		csv_cell_safe(text, name, strnlen(name, sizeof(thread->name)));
		csv_cell_end(text, start, true);
		if (text->error || text->used - start > sizeof(thread->comm))
			return;
		memcpy(thread->name, name, sizeof(thread->name));
		thread->comm_length = text->used - start;
		memcpy(thread->comm, text->data + start, thread->comm_length);
		return;
	}
	text_add(text, thread->comm, thread->comm_length);
}

/* Cells that aren't bounded. */
static void csv_cell_add(struct csv_row *row, const struct csv_step *step)
{
	switch (step->column) {
	case COLUMN_COMM:
		csv_comm_add(row);
		break;
	case COLUMN_FLAGS:
		column_flags_add(row->event, row->scratch, " ", row->text);
		break;
	case COLUMN_CONTEXT:
		csv_context_add(row);
		break;
	case COLUMN_FIELD:
		csv_field_add(row, step->field);
		break;
	case COLUMN_DATA:
		csv_data_add(row);
		break;
	default:
		csv_object_add(row, step->column);
	}
}

/* ---- rows ---- */

/* false: the row isn't plain. An error is kept in text. */
static bool csv_row_add(struct csv_row *row)
{
	const struct csv_plan *plan = row->plan;
	const struct decode_result *result = &row->scratch->result;
	struct text *text = row->text;
	size_t room = plan->room;
	char *p;

	if (row->plain)
		room += json_plain_room(plan->plain, row->data.length);
	if (text_reserve(text, room))
		return true;
	p = text->data + text->used;
	for (const struct csv_step *step = plan->steps;; step++) {
		p = text_put_wide(p, plan->text.data + step->at, step->length);
		switch (step->column) {
		case COLUMN_NONE:
			text->used = p - text->data;
			return true;
		case COLUMN_FIELDS:
			if (!row->plain)
				break;
			p = json_plain_put(plan->plain, row->event->record,
					   row->data.skip, p);
			if (!p)
				return false;
			continue;
		case COLUMN_NOTES:
			if (row->plain)
				continue;
			break;
		case COLUMN_FLAGS:
			if (!event_flags(row->event, result->status,
					 result->misfit))
				continue;
			break;
		case COLUMN_DATA:
			if (!csv_has_data(row))
				continue;
			break;
		case COLUMN_COMM:
		case COLUMN_CONTEXT:
		case COLUMN_FIELD:
			break;
		default:
			p = csv_number_put(row, step->column, p);
			continue;
		}
		text->used = p - text->data;
		csv_cell_add(row, step);
		if (text_reserve(text, room))
			return true;
		p = text->data + text->used;
	}
}

static int csv_event(struct output *output, const struct event *event,
		     struct text *text, struct scratch *scratch)
{
	struct csv *csv = output->own;
	struct csv_thread *thread = (void *)scratch->more;
	struct csv_row row = {
		.output = output, .event = event, .scratch = scratch,
		.plan = per_point_get(&csv->plans, &thread->met, event),
		.data = event_data(event), .budget = VALUE_BUDGET,
		.text = text,
	};
	size_t start = text->used;
	int code;

	if (!row.plan)
		return -ENOMEM;
	scratch->result = (struct decode_result){ .misfit = row.data.misfit };
	row.plain = row.plan->plain && !row.data.misfit &&
		    !(event->record->flags & RAS_RECORD_MUTED);
	if (row.plain && csv_row_add(&row))
		return -text->error;
	text->used = start;
	row.plain = false;
	row.values = (struct json_values){
		output, event, scratch, &row.plan->keys, &row.budget,
		thread->notes,
	};
	code = row.plan->decodes ? output_decode(event, scratch, NULL) : 0;
	if (code)
		return code;
	if (row.plan->keys.some)
		memset(thread->notes, NOTE_NONE,
		       row.plan->keys.count < JSON_FIELDS_MAX ?
		       row.plan->keys.count : JSON_FIELDS_MAX);
	if (row.plan->notes_first) {
		json_values_add(&row.values, text);
		text->used = start;
		row.budget = VALUE_BUDGET;
	}
	csv_row_add(&row);
	return -text->error;
}

/* ---- the columns ---- */

static int csv_column_add(struct columns *columns, enum column column)
{
	struct columns_item *items = reallocarray(columns->items,
						  columns->count + 1,
						  sizeof(*items));
	const char *name = column_words[column];

	if (!items)
		return -ENOMEM;
	columns->items = items;
	items[columns->count++] = columns_item_of(name, strlen(name), false);
	return 0;
}

/* The standard ones, or those chosen. Columns of fields are followed by those that
 * say whether a value can be relied on. */
static int csv_columns_make(struct csv *csv, const struct output *output,
			    struct error *err)
{
	struct columns *columns = &csv->columns;
	int code = columns_parse(columns, output->settings, err);

	csv->chosen = columns->count;
	for (size_t i = 0; !code && !csv->chosen &&
			   i < sizeof(standard) / sizeof(*standard); i++)
		code = csv_column_add(columns, standard[i]);
	if (!columns_have(columns, COLUMN_FIELD) &&
	    !columns_have(columns, COLUMN_FIELDS))
		return code;
	if (!code && !columns_have(columns, COLUMN_FLAGS))
		code = csv_column_add(columns, COLUMN_FLAGS);
	if (!code && !columns_have(columns, COLUMN_NOTES))
		code = csv_column_add(columns, COLUMN_NOTES);
	return code;
}

static int csv_open(struct output *output, struct text *text,
		    struct error *err)
{
	struct csv *csv = output->own;
	struct columns *columns = &csv->columns;
	int code = csv_columns_make(csv, output, err);

	if (!code)
		code = per_point_open(&csv->plans, csv_plan_make, csv);
	/* The row of names. */
	for (size_t i = 0; !code && i < columns->count; i++) {
		const struct columns_item *item = &columns->items[i];
		size_t start;

		if (i)
			text_add_char(text, ',');
		start = text->used;
		/* .flags stays so, as flags is a column, too */
		if (item->column == COLUMN_FIELD &&
		    columns_item_of(item->name, item->length, false).column !=
		    COLUMN_FIELD)
			text_add_char(text, '.');
		csv_cell_safe(text, item->name, item->length);
		csv_cell_end(text, start, true);
	}
	TEXT_ADD(text, "\r\n");
	return code ? code : -text->error;
}

static int csv_close(struct output *output, struct text *text,
		     struct error *err)
{
	struct csv *csv = output->own;

	return csv->plans.made.count ? columns_check(&csv->columns, err) : 0;
}

static void csv_free(struct output *output)
{
	struct csv *csv = output->own;
	struct csv_plan *plan;
	size_t at = 0;

	while ((plan = per_point_next(&csv->plans, &at)))
		csv_plan_free(plan);
	per_point_close(&csv->plans);
	columns_free(&csv->columns);
}

const struct output_ops output_csv = {
	.name = "csv",
	.own_bytes = sizeof(struct csv),
	.open = csv_open,
	.event = csv_event,
	.close = csv_close,
	.free = csv_free,
};

// SPDX-License-Identifier: GPL-2.0
/*
 * --calls as rows of a table: a row of names, then a row for each call. The columns
 * are those of --fields, or the members that JSON has of a call; what is an object
 * there is its JSON text here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/read/read.h"
#include "tracefmt/output/call_column.h"
#include "csv_cell.h"

/* What JSON has, besides columns of calls */
enum csv_call_more {
	MORE_NONE, MORE_EXIT_EVENT, MORE_ENTRY_NOTES, MORE_EXIT_NOTES,
	MORE_ENTRY_DATA, MORE_EXIT_DATA,
};

static const char *const more_words[] = {
	[MORE_EXIT_EVENT] = "exit_event", [MORE_ENTRY_NOTES] = "entry_notes",
	[MORE_EXIT_NOTES] = "exit_notes", [MORE_ENTRY_DATA] = "entry_data",
	[MORE_EXIT_DATA] = "exit_data",
};

static const struct csv_call_column {
	enum column column;
	enum csv_call_more more;
} standard_calls[] = {
	{ COLUMN_FUNCTION }, { COLUMN_EVENT }, { .more = MORE_EXIT_EVENT },
	{ COLUMN_TIME }, { COLUMN_TIME_NS }, { COLUMN_HOST }, { COLUMN_TRACE },
	{ COLUMN_MAJOR }, { COLUMN_MINOR }, { COLUMN_PID }, { COLUMN_TID },
	{ COLUMN_COMM }, { COLUMN_CPU }, { COLUMN_DEPTH }, { COLUMN_PARENT },
	{ COLUMN_LATENCY }, { COLUMN_SELF }, { COLUMN_DOUBT },
	{ COLUMN_RESULT }, { COLUMN_ENTRY }, { .more = MORE_ENTRY_NOTES },
	{ COLUMN_EXIT }, { .more = MORE_EXIT_NOTES },
	{ .more = MORE_ENTRY_DATA }, { .more = MORE_EXIT_DATA },
};

struct csv_calls {
	struct columns columns;	/* of --fields; none: all */
	bool noted;		/* the notes follow these */
	bool given;
};

/* A call on its way into a row. */
struct csv_call {
	const struct output *output;
	const struct pair_call *call;
	const struct event *decoded;	/* whose pieces are in scratch */
	struct scratch *scratch;
	struct text *text;
};

static int csv_call_decode(struct csv_call *of, const struct event *event)
{
	if (of->decoded != event &&
	    output_decode(event, of->scratch, NULL))
		return -ENOMEM;
	of->decoded = event;
	return 0;
}

/* One field, in a column of its own */
static int csv_call_field(struct csv_call *of, const struct event *event,
			  const struct field *field)
{
	struct value_budget budget = VALUE_BUDGET;
	struct json_field walk;
	uint8_t note;

	if (csv_call_decode(of, event))
		return -ENOMEM;
	walk = json_field_begin(of->output, event, of->scratch, &budget);
	while (field && json_field_next(&walk))
		if (walk.field == field) {
			size_t start = of->text->used;
			bool is_text = csv_value_add(&walk, of->text, &note);

			csv_cell_end(of->text, start, is_text);
			break;
		}
	return 0;
}

/* All fields as an object, or the notes of those that have one. */
static int csv_call_fields(struct csv_call *of, const struct event *event,
			   bool notes)
{
	struct value_budget budget = VALUE_BUDGET;
	struct json json = { .text = of->text };
	size_t start = of->text->used, used;
	struct json_field walk;
	bool some = !notes;
	uint8_t note;

	if (csv_call_decode(of, event))
		return -ENOMEM;
	walk = json_field_begin(of->output, event, of->scratch, &budget);
	json_open(&json, NULL, '{');
	while (json_field_next(&walk)) {
		if (!notes)
			json_key(&json, walk.field->name);
		used = of->text->used;
		json_add_field(&walk, of->text, &note);
		if (!notes)
			continue;
		of->text->used = used;
		if (note == NOTE_NONE)
			continue;
		some = true;
		json_key(&json, walk.field->name);
		json_add_note(&walk, note, of->text);
	}
	json_close(&json, '}');
	if (!some)
		of->text->used = start;
	csv_cell_end(of->text, start, false);
	return 0;
}

/* Bytes that the fields don't have */
static int csv_call_data(struct csv_call *of, const struct event *event)
{
	struct event_data data = event_data(event);
	size_t start = of->text->used;

	if (csv_call_decode(of, event))
		return -ENOMEM;
	if (!data.length || (event->point->formatted &&
			     !of->scratch->result.misfit &&
			     !of->output->settings->hex))
		return 0;
	json_add_hex(of->text, data.data, data.length);
	csv_cell_unquote(of->text, start);
	return 0;
}

static int csv_call_more_add(struct csv_call *of, enum csv_call_more more)
{
	const struct event *event = more == MORE_ENTRY_NOTES ||
				    more == MORE_ENTRY_DATA ?
				    &of->call->entry : &of->call->exit;

	if (!event->point)
		return 0;
	if (more == MORE_EXIT_EVENT)
		text_add_number(of->text, event->number);
	else if (more == MORE_ENTRY_NOTES || more == MORE_EXIT_NOTES)
		return csv_call_fields(of, event, true);
	else
		return csv_call_data(of, event);
	return 0;
}

/* Numbers may be negative, where times are in disorder. */
static void csv_call_value(struct csv_call *of, struct column_value value)
{
	size_t start = of->text->used;

	if (value.kind == COLUMN_NUMBER) {
		text_print(of->text, "%lld", (long long)value.number);
	} else if (value.kind == COLUMN_STRING) {
		csv_cell_safe(of->text, value.string, value.length);
		csv_cell_end(of->text, start, true);
	}
}

static void csv_call_time(struct csv_call *of, const struct event *event)
{
	struct clock clock = of->scratch->clock;
	char time[CLOCK_MAX];

	text_add(of->text, time, (clock.relative ?
		 clock_put(&clock, event->time, time) :
		 clock_put_iso(event->time, time)) - time);
}

static int csv_call_item(struct csv_call *of, struct columns_item *item)
{
	const struct event *event = call_column_event(of->call, item);
	struct columns_item asked = call_column_item(item);
	const struct field *field;

	if (!event) {
		csv_call_value(of, call_column_value(of->call, item->column));
		return 0;
	}
	if (!event->point)
		return 0;
	if (item->column == COLUMN_RESULT)
		return event->record->flags & RAS_RECORD_TAIL_CALL ? 0 :
		       csv_call_field(of, event,
				      arguments_return_field(event->point));
	if (asked.column == COLUMN_FIELDS)
		return csv_call_fields(of, event, false);
	if (asked.column == COLUMN_FIELD) {
		field = field_find(&event->point->fields, asked.name,
				   asked.length);
		item->met |= field != NULL;
		return csv_call_field(of, event, field);
	}
	if (asked.column == COLUMN_TIME)
		csv_call_time(of, event);
	else if (asked.column == COLUMN_TIME_NS)
		text_print(of->text, "%lld", (long long)event->time);
	else
		csv_call_value(of, column_value(event, asked.column));
	return 0;
}

/* The event's number is that of the entry. */
static int csv_call_standard(struct csv_call *of,
			     const struct csv_call_column *column)
{
	struct columns_item item;

	if (column->more)
		return csv_call_more_add(of, column->more);
	if (column->column == COLUMN_EVENT && !of->call->entry.point)
		return 0;
	item = (struct columns_item){ .column = column->column };
	return csv_call_item(of, &item);
}

static int csv_calls_call(struct output *output, struct pair_call *call,
			  struct text *text, struct scratch *scratch)
{
	size_t count = sizeof(standard_calls) / sizeof(*standard_calls);
	struct csv_calls *own = output->own;
	struct csv_call of = {
		.output = output, .call = call, .scratch = scratch,
		.text = text,
	};
	int code = 0;

	own->given = true;
	for (size_t i = 0; i < own->columns.count && !code; i++) {
		if (i)
			text_add_char(text, ',');
		code = csv_call_item(&of, &own->columns.items[i]);
	}
	for (size_t i = 0; i < count && !own->columns.count && !code; i++) {
		if (i)
			text_add_char(text, ',');
		code = csv_call_standard(&of, &standard_calls[i]);
	}
	for (int more = MORE_ENTRY_NOTES;
	     own->noted && more <= MORE_EXIT_NOTES && !code; more++) {
		text_add_char(text, ',');
		code = csv_call_more_add(&of, more);
	}
	TEXT_ADD(text, "\r\n");
	return code ? code : -text->error;
}

static int csv_calls_open(struct output *output, struct text *text,
			  struct error *err)
{
	size_t count = sizeof(standard_calls) / sizeof(*standard_calls);
	struct csv_calls *own = output->own;
	int code = columns_parse(&own->columns, output->settings, err);

	if (code)
		return code;
	for (size_t i = 0; i < own->columns.count; i++) {
		const struct columns_item *item = &own->columns.items[i];
		size_t start;

		if (i)
			text_add_char(text, ',');
		start = text->used;
		csv_cell_safe(text, item->name, item->length);
		csv_cell_end(text, start, true);
		own->noted |= item->column == COLUMN_FIELD ||
			      item->column == COLUMN_RESULT ||
			      item->column >= COLUMN_ENTRY;
	}
	for (size_t i = 0; i < count && !own->columns.count; i++)
		text_print(text, "%s%s", i ? "," : "", standard_calls[i].more ?
			   more_words[standard_calls[i].more] :
			   column_words[standard_calls[i].column]);
	if (own->noted)
		text_print(text, ",%s,%s", more_words[MORE_ENTRY_NOTES],
			   more_words[MORE_EXIT_NOTES]);
	TEXT_ADD(text, "\r\n");
	return -text->error;
}

static int csv_calls_close(struct output *output, struct text *text,
			   struct error *err)
{
	struct csv_calls *own = output->own;

	return own->given ? columns_check(&own->columns, err) : 0;
}

static void csv_calls_free(struct output *output)
{
	struct csv_calls *own = output->own;

	columns_free(&own->columns);
}

const struct output_ops output_csv_calls = {
	.name = "csv",
	.own_bytes = sizeof(struct csv_calls),
	.in_order = true,
	.whole = true,
	.unfolds = true,
	.calls = true,
	.pairing = PAIRING_ENTRIES | PAIRING_EXITS,
	.open = csv_calls_open,
	.call = csv_calls_call,
	.close = csv_calls_close,
	.free = csv_calls_free,
};

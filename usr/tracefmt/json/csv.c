// SPDX-License-Identifier: GPL-2.0
/*
 * Events as rows of a table (RFC 4180): a row of names, then a row for each
 * event. Without --fields the columns are those of `standard`, one of which has
 * all fields of the data: EIP=49997 name="app.conf". Text is made fit for a
 * terminal (text.h); an apostrophe precedes what begins like a formula of a
 * spreadsheet.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/read/read.h"
#include "tracefmt/output/cell.h"
#include "json_field.h"

/* ---- cells: text is appended, then made a cell ---- */

/* What was appended is no formula: it gets a ' where it may be one, or begins
 * with one. */
static void csv_cell_guard(struct text *text, size_t start)
{
	char *cell;

	if (text_reserve(text, 1) || text->used == start)
		return;
	cell = text->data + start;
	if (!memchr("=+-@'", *cell, 5))
		return;
	memmove(cell + 1, cell, text->used - start);
	*cell = '\'';
	text->used++;
}

/* Append any bytes, fit for a terminal (text.h), with two backslashes for
 * one, and no formula. */
static void csv_cell_safe(struct text *text, const void *bytes, size_t n)
{
	const char *at = bytes, *end = at + n, *slash;
	size_t start = text->used;
	char *p;

	if (text_reserve(text, 4 * n))
		return;
	p = text->data + start;
	for (; (slash = memchr(at, '\\', end - at)); at = slash + 1)
		p = TEXT_PUT(text_put_safe(p, at, slash - at), "\\\\");
	text->used = text_put_safe(p, at, end - at) - text->data;
	csv_cell_guard(text, start);
}

/* What was appended from `start` on becomes a cell: it gets quotes if it needs
 * them. */
static void csv_cell_end(struct text *text, size_t start)
{
	size_t n = text->used - start, quotes = 0;
	char *cell = text->data + start, *end = cell + n, *to, *quote;

	if (!memchr(cell, '"', n) && !memchr(cell, ',', n) &&
	    !memchr(cell, '\n', n))
		return;
	for (quote = cell; (quote = memchr(quote, '"', end - quote)); quote++)
		quotes++;
	if (text_reserve(text, quotes + 2))
		return;
	/* From the end on: each quote is doubled, and two are around all. */
	cell = text->data + start;
	end = cell + n;
	to = end + quotes + 2;
	*--to = '"';
	while ((quote = memrchr(cell, '"', end - cell))) {
		to -= end - quote;
		memmove(to, quote, end - quote);
		*--to = '"';
		end = quote;
	}
	memmove(cell + 1, cell, end - cell);
	*cell = '"';
	text->used += quotes + 2;
}

/* A JSON string that was appended loses its quotes, and quotes in it their
 * escapes; other escapes stay. */
static void csv_cell_unquote(struct text *text, size_t start)
{
	char *to = text->data + start, *end = text->data + text->used - 1;

	if (text->used == start || *to != '"')
		return;
	for (const char *from = to + 1; from < end; from++) {
		if (*from == '\\' && from[1] == '"')
			from++;
		else if (*from == '\\')
			*to++ = *from++;
		*to++ = *from;
	}
	text->used = to - text->data;
}

/* ---- fields ---- */

/* The event whose row is being made. */
struct csv_row {
	const struct output *output;
	const struct event *event;
	struct scratch *scratch;	/* with its pieces */
	struct text *text;
	struct value_budget budget;
};

static void csv_missing_add(struct text *text, uint8_t note)
{
	if (note == NOTE_NONE)
		return;
	text_add_char(text, '<');
	text_add_string(text, decode_note_words[note]);
	text_add_char(text, '>');
}

/* Values whose text in a line has a form of its own. */
static void csv_text_add(const struct json_field *of,
			 const struct field_value *value, struct text *text)
{
	const struct decode_format *format = of->format;
	char *p;

	if (text_reserve(text, SYMBOLS_NAME_MAX + VALUE_TEXT_MAX))
		return;
	p = text->data + text->used;
	if (value->kind == FIELD_ADDRESS)
		p = stack_put_address(of->owner, value->u, p);
	else if (of->field->names)
		p = field_text_put(of->field, of->piece, p);
	else
		p = value_put(&format->types, of->field->ctype, value->data,
			      value->length, p, of->budget);
	text->used = p - text->data;
}

/* In a column of its own. */
static void csv_value_add(const struct json_field *of, struct text *text)
{
	struct field_value value = field_value(of->field, of->piece);
	size_t start = text->used;
	uint8_t note;

	if (of->field->array && value.there) {
		json_add_field(of, text, &note);
		return;
	}
	if (!value.there) {
		csv_missing_add(text, value.note);
		return;
	}
	switch (value.kind) {
	case FIELD_STRING:
		csv_cell_safe(text, value.data, value.length);
		break;
	case FIELD_ADDRESS:
	case FIELD_ENUM:
	case FIELD_FLAGS:
		csv_text_add(of, &value, text);
		/* a number without a name may be negative */
		if (value.kind != FIELD_ENUM ||
		    field_enum_name(of->format, of->field, value.u))
			csv_cell_guard(text, start);
		break;
	default:
		json_add_field(of, text, &note);
		if (text->used == start || text->data[start] != '"')
			break;
		csv_cell_unquote(text, start);
		if (value.kind == FIELD_CTYPE)
			csv_cell_guard(text, start);
	}
}

static struct json_field csv_fields_begin(struct csv_row *row)
{
	struct json_field of = json_field_begin(row->output, row->event,
						row->scratch, &row->budget);

	of.bytes = JSON_BYTES_KEPT;
	return of;
}

/* The field of this name in a cell of its own. */
static void csv_field_named(struct csv_row *row, struct columns_item *item)
{
	const struct field *field = field_find(&row->event->point->fields,
					       item->name, item->length);
	struct json_field of = csv_fields_begin(row);

	if (!field)
		return;
	__atomic_store_n(&item->met, true, __ATOMIC_RELAXED);
	while (json_field_next(&of))
		if (of.field == field) {
			csv_value_add(&of, row->text);
			return;
		}
}

/* name=value of all fields, or name=<why it isn't there>. */
static void csv_field_all(struct csv_row *row)
{
	struct json_field of = csv_fields_begin(row);
	const char *blank = "";
	uint8_t note;

	for (; json_field_next(&of); blank = " ") {
		struct field_value value = field_value(of.field, of.piece);

		text_add_string(row->text, blank);
		text_add_string(row->text, of.field->name);
		text_add_char(row->text, '=');
		if (value.there || of.piece->nothing)
			json_add_field(&of, row->text, &note);
		else
			csv_missing_add(row->text, value.note);
	}
}

/* name=why of those that have a note. */
static void csv_field_notes(struct csv_row *row)
{
	const struct decode_piece *stop = row->scratch->pieces +
					  row->scratch->result.count;
	const char *blank = "";

	for (const struct decode_piece *p = row->scratch->pieces; p < stop;
	     p++) {
		const struct field *field;

		if (p->step->field == DECODE_NO_FIELD || !p->note)
			continue;
		field = &row->event->point->fields.fields[p->step->field];
		text_add_string(row->text, blank);
		text_add_string(row->text, field->name);
		text_add_char(row->text, '=');
		text_add_string(row->text, decode_note_words[p->note]);
		blank = " ";
	}
}

/* ---- the table ---- */

static const enum column standard[] = {
	COLUMN_EVENT, COLUMN_TIME, COLUMN_HOST, COLUMN_TRACE, COLUMN_MAJOR,
	COLUMN_MINOR, COLUMN_DESC, COLUMN_PID, COLUMN_TID, COLUMN_COMM,
	COLUMN_CPU, COLUMN_LENGTH, COLUMN_FLAGS, COLUMN_FIELDS, COLUMN_DATA,
};

struct csv {
	struct columns columns;	/* those chosen, or of `standard` */
	bool chosen;
	bool given;		/* an event was given out */
};

/* ---- columns ---- */

/* In scratch->more: making a date is slow, so that of a second is kept. */
struct csv_thread {
	int64_t second;
	char date[CLOCK_MAX];	/* "2026-02-03T18:07:32." of it; empty: none */
};

#define DATE_LENGTH	20

static void csv_time_add(const struct csv_row *row)
{
	struct csv_thread *thread = (void *)row->scratch->more;
	struct clock *clock = &row->scratch->clock;
	int64_t time = row->event->time, second = clock_second(time);
	char *p;

	if (text_reserve(row->text, CLOCK_MAX))
		return;
	p = row->text->data + row->text->used;
	if (clock->relative) {
		p = clock_put(clock, time, p);
	} else {
		if (second != thread->second || !thread->date[0]) {
			clock_put_iso(time, thread->date);
			thread->second = second;
		}
		p = text_put(p, thread->date, DATE_LENGTH);
		p = text_put_padded(p, time - second * 1000000000, 9);
		*p++ = 'Z';
	}
	row->text->used = p - row->text->data;
}

static void csv_types_add(const struct csv_row *row)
{
	const struct match_point *point = row->event->point;
	const char *blank = "";

	for (unsigned int bit = 0; point->formatted && bit < 16; bit++) {
		const char *name = match_point_type(point, bit);

		if (!(point->entry->type & 1u << bit))
			continue;
		text_add_string(row->text, blank);
		if (*name)
			csv_cell_safe(row->text, name, strlen(name));
		else
			text_add_number(row->text, 1u << bit);
		blank = " ";
	}
}

static void csv_context_add(const struct csv_row *row)
{
	struct context context = context_find(row->event->record,
					      row->event->point->context);
	struct stack_owner owner = {
		&row->event->trace->file.processes, row->event->record->pid,
		row->output->settings->symbols,
	};

	if (context.mask && !context.misfit)
		json_add_context(&context, owner, row->text);
}

/* Always as a column that was asked for; else where fields don't have it. */
static void csv_data_add(const struct csv_row *row)
{
	const struct csv *csv = row->output->own;
	struct event_data data = event_data(row->event);
	size_t start = row->text->used;
	bool in_fields = row->event->point->formatted &&
			 row->event->point->format.takes_data &&
			 !row->scratch->result.misfit;

	if (!data.length || (in_fields && !csv->chosen &&
			     !row->output->settings->hex))
		return;
	json_add_hex(row->text, data.data, data.length);
	csv_cell_unquote(row->text, start);
}

/* Returns whether it is digits and signs, which need no quotes. */
static bool csv_column_add(struct csv_row *row, enum column column)
{
	struct column_value value = column_value(row->event, column);

	switch (column) {
	case COLUMN_TIME:
		csv_time_add(row);
		break;
	case COLUMN_TIME_NS:
		text_print(row->text, "%lld", (long long)row->event->time);
		return true;
	case COLUMN_TYPES:
		csv_types_add(row);
		break;
	case COLUMN_FLAGS:
		column_flags_add(row->event, row->scratch, " ", row->text);
		break;
	case COLUMN_CONTEXT:
		csv_context_add(row);
		break;
	case COLUMN_FIELDS:
		csv_field_all(row);
		break;
	case COLUMN_NOTES:
		csv_field_notes(row);
		break;
	case COLUMN_DATA:
		csv_data_add(row);
		break;
	default:
		if (value.kind == COLUMN_NUMBER)
			text_add_number(row->text, value.number);
		else if (value.kind == COLUMN_STRING)
			csv_cell_safe(row->text, value.string, value.length);
		return value.kind == COLUMN_NUMBER;
	}
	return false;
}

/* ---- rows ---- */

static void csv_cell_add(struct csv_row *row, struct columns_item *item)
{
	size_t start = row->text->used;
	bool number = false;

	if (item->column == COLUMN_FIELD)
		csv_field_named(row, item);
	else
		number = csv_column_add(row, item->column);
	if (!number)
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

	if (code)
		return code;
	__atomic_store_n(&csv->given, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < csv->columns.count; i++) {
		if (i)
			text_add_char(text, ',');
		csv_cell_add(&row, &csv->columns.items[i]);
	}
	TEXT_ADD(text, "\r\n");
	return -text->error;
}

static int csv_standard_take(struct columns *columns, bool several)
{
	size_t count = sizeof(standard) / sizeof(*standard);

	columns->items = calloc(count, sizeof(*columns->items));
	for (size_t i = 0; columns->items && i < count; i++) {
		const char *name = column_words[standard[i]];

		/* the names of host and trace matter only with several traces */
		if (several || (standard[i] != COLUMN_HOST &&
				standard[i] != COLUMN_TRACE))
			columns->items[columns->count++] =
				columns_item_of(name, strlen(name));
	}
	return columns->items ? 0 : -ENOMEM;
}

static int csv_open(struct output *output, struct text *text,
		    struct error *err)
{
	struct csv *csv = output->own;
	struct columns *columns;
	int code;

	columns = &csv->columns;
	code = columns_parse(columns, output->settings, err);
	csv->chosen = columns->count;
	if (!code && !csv->chosen)
		code = csv_standard_take(columns, output->stream->count > 1);
	if (code)
		return code;
	/* The row of names. */
	for (size_t i = 0; i < columns->count; i++) {
		size_t start;

		if (i)
			text_add_char(text, ',');
		start = text->used;
		csv_cell_safe(text, columns->items[i].name,
			      columns->items[i].length);
		csv_cell_end(text, start);
	}
	TEXT_ADD(text, "\r\n");
	return -text->error;
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

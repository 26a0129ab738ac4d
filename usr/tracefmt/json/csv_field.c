// SPDX-License-Identifier: GPL-2.0
#include "csv_field.h"

#include <errno.h>
#include "csv_cell.h"
#include "json_field.h"

static int missing_add(struct text *text, uint8_t note)
{
	if (note == NOTE_NONE)
		return 0;
	if (csv_cell_char(text, '<') ||
	    csv_cell_word(text, decode_note_words[note]))
		return -ENOMEM;
	return csv_cell_char(text, '>');
}

/* Texts of a line that have a form of their own. */
static int named_add(const struct json_field *of,
		     const struct field_value *value, struct text *text)
{
	const struct decode_format *format = of->format;
	char *p;

	if (text_reserve(text, SYMBOLS_NAME_MAX + VALUE_TEXT_MAX))
		return -ENOMEM;
	p = text->data + text->used;
	if (value->kind == FIELD_ADDRESS)
		p = stack_put_address(of->owner, value->u, p);
	else if (of->field->names)
		p = field_text_put(of->field, of->piece, p);
	else
		p = value_put(&format->types, of->field->ctype, value->data,
			      value->length, p, of->budget);
	text->used = p - text->data;
	return 0;
}

/* A name; a number without one may be negative. */
static bool is_named(const struct json_field *of,
		     const struct field_value *value)
{
	return value->kind != FIELD_ENUM ||
	       field_enum_name(of->format, of->field, value->u);
}

/* In a column of its own. */
static int field_add(const struct json_field *of, struct text *text)
{
	struct field_value value = field_value(of->field, of->piece);
	size_t start = text->used;
	uint8_t note;
	int code;

	if (of->field->array && value.there)
		return json_field_put(of, text, &note);
	if (!value.there)
		return missing_add(text, value.note);
	switch (value.kind) {
	case FIELD_STRING:
		return csv_cell_safe(text, value.data, value.length);
	case FIELD_ADDRESS:
	case FIELD_ENUM:
	case FIELD_FLAGS:
		code = named_add(of, &value, text);
		return !code && is_named(of, &value) ?
		       csv_cell_guard(text, start) : code;
	default:
		code = json_field_put(of, text, &note);
		if (code || text->data[start] != '"')
			return code;
		csv_cell_unquote(text, start);
		return value.kind == FIELD_CTYPE ?
		       csv_cell_guard(text, start) : 0;
	}
}

static struct json_field fields_begin(struct csv_row *row)
{
	struct json_field of = json_field_begin(row->output, row->event,
						row->scratch, &row->budget);

	of.bytes = JSON_BYTES_KEPT;
	return of;
}

int csv_field_named(struct csv_row *row, struct columns_item *item)
{
	const struct field *field = field_find(&row->event->point->fields,
					       item->name, item->length);
	struct json_field of = fields_begin(row);

	if (!field)
		return 0;
	__atomic_store_n(&item->met, true, __ATOMIC_RELAXED);
	while (json_field_next(&of))
		if (of.field == field)
			return field_add(&of, row->text);
	return 0;
}

/* name=value, or name=<why it isn't there> */
static int pair_add(const struct json_field *of, struct text *text)
{
	struct field_value value = field_value(of->field, of->piece);
	uint8_t note;

	if (csv_cell_word(text, of->field->name) || csv_cell_char(text, '='))
		return -ENOMEM;
	if (!value.there && !of->piece->nothing)
		return missing_add(text, value.note);
	return json_field_put(of, text, &note);
}

int csv_field_all(struct csv_row *row)
{
	struct json_field of = fields_begin(row);
	const char *blank = "";

	for (; json_field_next(&of); blank = " ")
		if (csv_cell_word(row->text, blank) ||
		    pair_add(&of, row->text))
			return -ENOMEM;
	return 0;
}

int csv_field_notes(struct csv_row *row)
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
		if (csv_cell_word(row->text, blank) ||
		    csv_cell_word(row->text, field->name) ||
		    csv_cell_char(row->text, '=') ||
		    csv_cell_word(row->text, decode_note_words[p->note]))
			return -ENOMEM;
		blank = " ";
	}
	return 0;
}

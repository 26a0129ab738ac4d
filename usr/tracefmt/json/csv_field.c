// SPDX-License-Identifier: GPL-2.0
#include "csv_field.h"

#include "csv_cell.h"
#include "json_field.h"

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

void csv_field_named(struct csv_row *row, struct columns_item *item)
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

void csv_field_all(struct csv_row *row)
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

void csv_field_notes(struct csv_row *row)
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

// SPDX-License-Identifier: GPL-2.0
#include "csv_cell.h"

#include <string.h>
#include "lib/read/read.h"

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

void csv_cell_safe(struct text *text, const void *bytes, size_t n)
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

void csv_cell_end(struct text *text, size_t start, bool there)
{
	size_t n = text->used - start, quotes = 0;
	char *cell = text->data + start, *end = cell + n, *to, *quote;

	if ((n || !there) && !memchr(cell, '"', n) && !memchr(cell, ',', n) &&
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

void csv_cell_unquote(struct text *text, size_t start)
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

bool csv_value_add(const struct json_field *of, struct text *text,
			  uint8_t *note)
{
	struct field_value value = field_value(of->field, of->piece);
	size_t start = text->used;

	*note = value.note;
	if (!value.there)
		return false;
	if (of->field->array) {
		json_add_field(of, text, note);
		return false;
	}
	switch (value.kind) {
	case FIELD_STRING:
		csv_cell_safe(text, value.data, value.length);
		return true;
	case FIELD_ADDRESS:
	case FIELD_ENUM:
	case FIELD_FLAGS:
		csv_text_add(of, &value, text);
		/* a number without a name may be negative */
		if (value.kind != FIELD_ENUM ||
		    field_enum_name(of->format, of->field, value.u))
			csv_cell_guard(text, start);
		return false;
	default:
		json_add_field(of, text, note);
		if (text->used == start || text->data[start] != '"')
			return false;
		csv_cell_unquote(text, start);
		if (value.kind == FIELD_CTYPE)
			csv_cell_guard(text, start);
		return true;
	}
}

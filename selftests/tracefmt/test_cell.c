// SPDX-License-Identifier: GPL-2.0
/* The values of an event on one line (--tree), and a field by name (--fields). */
#include <tap.h>
#include "tracefmt/output/cell.h"
#include "row.h"

static const struct {
	const char *fmt, *data;
	const char *line, *field;	/* "n" of it */
} rows[] = {
	{ "n = %R%C\n", "P('gift wrap')", "n = gift wrap", "gift wrap" },
	{ "n = %R%C\n", "P(' gift  wrap ')", "n = gift wrap", " gift  wrap " },
	{ "n = %R%B m = %W\n", "P(0102) 0304", "n = 01 02, m = 0403", "01 02" },
	{ "n = %P%S\n", "S(' a  b ')", "n = \" a  b \"", "\" a  b \"" },
	{ "m = %R%C, n = %B\n", "P('a b') 07", "m = a b, n = 07", "07" },
};

static struct value_types types;

static void test_row(size_t i)
{
	struct trace trace = { 0 };
	struct match_point point = { .formatted = true };
	struct event event = { .trace = &trace, .point = &point };
	struct output_settings settings = { 0 };
	struct output output = { .settings = &settings };
	static struct scratch scratch;
	struct cell_source source = { &output, &event, &scratch };
	struct cell cell = {
		.item = { COLUMN_FIELD, .name = "n", .length = 1 },
		.quoted = true,
	};
	struct ras_record *record = row_record(rows[i].data, 0);
	struct text text;

	decode_compile(&point.format, rows[i].fmt, &types);
	field_set_make(&point.fields, &point.format);
	event.record = record;
	text_open(&text, -1);
	output_decode(&event, &scratch, NULL);
	arguments_put(&output, &event, &scratch, NULL, &text);
	text_add_char(&text, '\0');
	tap_str(text.data, rows[i].line, "'%s' of %s", rows[i].fmt,
		rows[i].data);
	text.used = 0;
	cell_put(&cell, &source, &text);
	text_add_char(&text, '\0');
	tap_str(text.data, rows[i].field, "the field alone");
	free(text.data);
	free(scratch.pieces);
	scratch.pieces = NULL;
	scratch.room = 0;
	free(record);
	field_set_free(&point.fields);
	decode_free(&point.format);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		test_row(i);
	return tap_done();
}

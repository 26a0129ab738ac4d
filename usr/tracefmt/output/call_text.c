// SPDX-License-Identifier: GPL-2.0
/*
 * Calls as text: both records as they are printed alone, the second with a line
 *
 *	Call of event [10]  Latency [1.400 us]  Self [900 ns]
 *
 * or, with --fields, a line "function=open latency=1.400us" of each.
 */
#include <errno.h>
#include <stdlib.h>
#include "lib/read/read.h"
#include "tracefmt/pair/figures.h"
#include "call_column.h"
#include "cell.h"
#include "print.h"

struct call_text {
	struct columns columns;
	int64_t before;		/* time of the record that was printed before */
	bool given;
};

static void call_figure_put(struct text *text, int64_t ns, bool known)
{
	char word[TEXT_DURATION] = "?";

	text_add(text, word, known ? text_put_duration(word, ns) - word : 1);
}

/* In front of the empty line at the end. */
static void call_line_put(const struct pair_call *call, struct text *text)
{
	const char *word = pair_doubt_words[call->doubt];

	if (text->error)
		return;
	text->used--;
	TEXT_ADD(text, "Call");
	if (call->number)
		text_print(text, " of event [%llu]",
			   (unsigned long long)call->number);
	TEXT_ADD(text, "  Latency [");
	call_figure_put(text, call->latency, call->doubt == PAIR_SURE);
	TEXT_ADD(text, "]  Self [");
	call_figure_put(text, call->self, !call->self_doubt);
	TEXT_ADD(text, "]");
	if (word)
		text_print(text, "  Doubt [%s]", word);
	TEXT_ADD(text, "\n\n");
}

/* What is a column of calls, as text without blanks. */
static void call_word_put(const struct output *output,
			  const struct pair_call *call, enum column column,
			  struct text *text)
{
	struct column_value value = call_column_value(call, column);
	char word[TEXT_DURATION], *end;

	if (column == COLUMN_LATENCY || column == COLUMN_SELF) {
		if (value.kind == COLUMN_NOTHING) {
			TEXT_ADD(text, "?");
			return;
		}
		end = text_put_duration(word, value.number);
		for (const char *p = word; p < end; p++)
			if (*p != ' ')
				text_add_char(text, *p);
	} else if (column == COLUMN_FUNCTION) {
		text_print(text, "\"%s\"", output_desc(output, call->name));
	} else if (value.kind == COLUMN_NUMBER) {
		text_add_number(text, value.number);
	} else if (value.kind == COLUMN_STRING) {
		text_add(text, value.string, value.length);
	}
}

/* 0 or -ENOMEM. */
static int call_cell_put(const struct output *output,
			 const struct pair_call *call,
			 struct columns_item *item, struct text *text,
			 struct scratch *scratch)
{
	const struct event *event = call_column_event(call, item);
	struct cell_source source = { output, event, scratch };
	struct cell cell = { .quoted = true, .item = call_column_item(item) };

	if (!event) {
		call_word_put(output, call, item->column, text);
		return 0;
	}
	if (!event->point)
		return 0;
	if (output_decode(event, scratch, NULL))
		return -ENOMEM;
	if (item->column == COLUMN_RESULT) {
		arguments_return_put(output, event, scratch, text);
		return 0;
	}
	cell_put(&cell, &source, text);
	item->met |= cell.item.met;
	return 0;
}

static int call_text_fields(struct output *output,
			    const struct pair_call *call, struct text *text,
			    struct scratch *scratch)
{
	struct call_text *own = output->own;
	const char *blank = "";

	for (size_t i = 0; i < own->columns.count; i++) {
		struct columns_item *item = &own->columns.items[i];
		size_t start = text->used, value;

		text_add_string(text, blank);
		text_add(text, item->name, item->length);
		TEXT_ADD(text, "=");
		value = text->used;
		if (call_cell_put(output, call, item, text, scratch))
			return -ENOMEM;
		if (text->used == value)
			text->used = start;
		else
			blank = " ";
	}
	TEXT_ADD(text, "\n");
	return -text->error;
}

static int call_text_call(struct output *output, struct pair_call *call,
			  struct text *text, struct scratch *scratch)
{
	const struct event *records[] = { &call->entry, &call->exit };
	struct call_text *own = output->own;

	own->given = true;
	if (own->columns.count)
		return call_text_fields(output, call, text, scratch);
	for (size_t i = 0; i < 2; i++) {
		struct event event = *records[i];
		int code;

		if (!event.point)
			continue;
		event.before = own->before;
		own->before = event.time;
		code = print_event(output, &event, text, scratch);
		if (code)
			return code;
	}
	call_line_put(call, text);
	return -text->error;
}

static int call_text_open(struct output *output, struct text *text,
			  struct error *err)
{
	struct call_text *own = output->own;

	own->before = EVENT_FIRST;
	return columns_parse(&own->columns, output->settings, err);
}

static int call_text_close(struct output *output, struct text *text,
			   struct error *err)
{
	struct call_text *own = output->own;

	return own->given ? columns_check(&own->columns, err) : 0;
}

static void call_text_free(struct output *output)
{
	struct call_text *own = output->own;

	columns_free(&own->columns);
}

const struct output_ops output_call_text = {
	.name = "text",
	.own_bytes = sizeof(struct call_text),
	.in_order = true,
	.whole = true,
	.unfolds = true,
	.calls = true,
	.pairing = PAIRING_ENTRIES | PAIRING_EXITS,
	.open = call_text_open,
	.call = call_text_call,
	.close = call_text_close,
	.free = call_text_free,
};

// SPDX-License-Identifier: GPL-2.0
/*
 * Text in a form of one's own: with --prefix, in front of each line of a record
 * (or above it, when the template ends with a line end) instead of DESC and
 * header line; with --fields, one line "len=5 name="x"" of what was selected.
 */
#include "prefixed.h"

#include <errno.h>
#include <stdlib.h>
#include "prefix.h"
#include "print.h"

struct prefixed {
	struct prefix *prefix;	/* NULL: none */
	struct columns columns;
	bool given;		/* an event was given out */
};

static void prefixed_free(struct output *output)
{
	struct prefixed *own = output->own;

	if (!own)
		return;
	prefix_free(own->prefix);
	columns_free(&own->columns);
	free(own);
}

static int prefixed_open(struct output *output, struct text *text,
			 struct error *err)
{
	const struct output_settings *settings = output->settings;
	struct prefixed *own = calloc(1, sizeof(*own));
	int code = 0;

	output->own = own;
	if (!own)
		return -ENOMEM;
	if (settings->prefix)
		code = prefix_parse(&own->prefix, settings->prefix, err);
	return code ? code : columns_parse(&own->columns, settings, err);
}

/* All fields have labels of their own. */
static void prefixed_name(const struct columns_item *item, struct text *text)
{
	if (item->column == COLUMN_FIELDS)
		return;
	text_add(text, item->name, item->length);
	text_add(text, "=", 1);
}

static int body_put(struct prefixed *own, const struct cell_source *source,
		    struct text *text)
{
	const char *blank;

	if (!own->columns.count)
		return print_body(source->output, source->event, text,
				  source->scratch);

	/* "name=value", blanks between; what the event doesn't have is left
	 * out. */
	blank = "";
	for (size_t i = 0; i < own->columns.count; i++) {
		struct columns_item *item = &own->columns.items[i];
		struct cell cell = {
			.item = { .column = item->column, .name = item->name,
				  .length = item->length },
			.quoted = true,
		};
		size_t start = text->used, value;

		text_add_string(text, blank);
		prefixed_name(item, text);
		value = text->used;
		cell_put(&cell, source, text);
		if (cell.item.met)
			__atomic_store_n(&item->met, true, __ATOMIC_RELAXED);
		if (text->used == value)
			text->used = start;
		else
			blank = " ";
	}
	text_add(text, "\n", 1);

	return 0;
}

static int prefixed_event(struct output *output, const struct event *event,
			  struct text *text, struct scratch *scratch)
{
	struct cell_source source = { output, event, scratch };
	struct prefixed *own = output->own;
	size_t start = text->used, n;
	size_t lines;
	size_t end;
	char *from;
	char *to;

	__atomic_store_n(&own->given, true, __ATOMIC_RELAXED);
	if (output_decode(event, scratch, NULL))
		return -ENOMEM;
	if (own->prefix)
		prefix_put(own->prefix, &source, text);
	n = text->used - start;
	if (body_put(own, &source, text) || text->error)
		return -ENOMEM;
	if (!own->prefix || prefix_is_line(own->prefix))
		return 0;
	if (text->used == start + n)
		text_add(text, "\n", 1);

	if (text->error)
		return -ENOMEM;

	/* Copy the prefix, `n` bytes at `start`, to all lines but the first of
	 * those after it. */
	lines = 0;
	end = text->used - 1;
	for (size_t i = start + n; i < end; i++)
		lines += text->data[i] == '\n';
	if (!lines || !n)
		return 0;
	if (text_reserve(text, lines * n))
		return -ENOMEM;
	from = text->data + text->used;
	text->used += lines * n;
	to = text->data + text->used;
	*--to = *--from;
	while (lines) {
		if (from[-1] == '\n') {
			to -= n;
			memcpy(to, text->data + start, n);
			lines--;
		}
		*--to = *--from;
	}
	return 0;
}

static int prefixed_close(struct output *output, struct text *text,
			  struct error *err)
{
	struct prefixed *own = output->own;
	int code = 0;

	if (own->given && own->prefix)
		code = prefix_check(own->prefix, err);
	return own->given && !code ? columns_check(&own->columns, err) : code;
}

const struct output_ops output_prefixed = {
	.name = "text",
	.open = prefixed_open,
	.event = prefixed_event,
	.close = prefixed_close,
	.free = prefixed_free,
};

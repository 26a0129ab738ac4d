// SPDX-License-Identifier: GPL-2.0
#include "prefix.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include "print.h"

#define WIDTH_MAX	1000

/* Text, or a cell if `is_cell` is set. */
struct prefix_part {
	const char *text;
	size_t length;
	bool is_cell, left;
	unsigned int width;
	struct cell cell;
};

struct prefix {
	char *template;
	struct prefix_part *parts;
	size_t count;
};

static const struct {
	char letter;
	enum cell_kind kind;
	enum column column;
} letters[] = {
	{ 'n', CELL_COLUMN, COLUMN_EVENT }, { 't', CELL_COLUMN, COLUMN_TIME },
	{ 'D', CELL_DATE }, { 's', CELL_SECONDS }, { 'r', CELL_SINCE_FIRST },
	{ 'd', CELL_SINCE_LAST }, { 'b', CELL_BOOT },
	{ 'h', CELL_COLUMN, COLUMN_HOST }, { 'p', CELL_COLUMN, COLUMN_PID },
	{ 'i', CELL_COLUMN, COLUMN_TID }, { 'c', CELL_COLUMN, COLUMN_COMM },
	{ 'C', CELL_COLUMN, COLUMN_CPU }, { 'M', CELL_COLUMN, COLUMN_MAJOR },
	{ 'm', CELL_COLUMN, COLUMN_MINOR }, { 'e', CELL_COLUMN, COLUMN_DESC },
	{ 'l', CELL_COLUMN, COLUMN_LENGTH },
	{ 'f', CELL_COLUMN, COLUMN_FLAGS },
};

static struct prefix_part *prefix_part_add(struct prefix *prefix)
{
	struct prefix_part *parts =
		reallocarray(prefix->parts, prefix->count + 1, sizeof(*parts));

	if (!parts)
		return NULL;
	prefix->parts = parts;
	parts[prefix->count] = (struct prefix_part){ 0 };
	return &parts[prefix->count++];
}

static int prefix_text_add(struct prefix *prefix, const char *text,
			   size_t length)
{
	struct prefix_part *part = length ? prefix_part_add(prefix) : NULL;

	if (!part)
		return length ? -ENOMEM : 0;
	part->text = text;
	part->length = length;
	return 0;
}

static int prefix_wrong(const struct prefix *prefix, const char *at,
			const char *why, struct error *err)
{
	error_set(err, -EINVAL, "%s\n  %s\n%*s^", why, prefix->template,
		  (int)(at - prefix->template) + 2, "");
	error_hint(err, "%%t, %%5p and %%{comm} for example; tracefmt(1) has the list");
	return -EINVAL;
}

/* Of "%{name}" from the name on; the end, NULL: there is none. */
static const char *name_take(struct prefix_part *part, const char *p)
{
	size_t length = strcspn(p, "}");

	if (!length || !p[length])
		return NULL;
	part->cell.kind = CELL_COLUMN;
	part->cell.item = columns_item_of(p, length, false);
	return p + length + 1;
}

static const char *letter_take(struct prefix_part *part, const char *p)
{
	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		if (letters[i].letter == *p) {
			part->cell.kind = letters[i].kind;
			part->cell.item.column = letters[i].column;
			return p + 1;
		}
	return NULL;
}

/* From the % on; the end, NULL: err is set. */
static const char *prefix_control(struct prefix *prefix, const char *start,
				  struct error *err)
{
	struct prefix_part *part = prefix_part_add(prefix);
	const char *p = start + 1, *end;

	if (!part)
		return NULL;
	part->is_cell = true;
	for (; *p == '-' || *p == '#'; p++) {
		part->left |= *p == '-';
		part->cell.hex |= *p == '#';
	}
	for (; isdigit((unsigned char)*p) && part->width <= WIDTH_MAX; p++)
		part->width = 10 * part->width + (*p - '0');
	end = *p == '{' ? name_take(part, p + 1) : letter_take(part, p);
	if (end && part->width <= WIDTH_MAX)
		return end;
	prefix_wrong(prefix, start, end ? "the width is too large" :
		     "there is no such control", err);
	return NULL;
}

/* The character of \n, \t or \\; 0: it is none of these. */
static char escape_of(const char *p)
{
	if (*p != '\\')
		return 0;
	return p[1] == 'n' ? '\n' : p[1] == 't' ? '\t' :
	       p[1] == '\\' ? '\\' : 0;
}

/* In the template itself. */
static void escapes_replace(char *template)
{
	char *to = template, c;

	for (const char *p = template; *p; p++) {
		c = escape_of(p);
		*to++ = c ? c : *p;
		p += !!c;
	}
	*to = '\0';
}

static int prefix_parts_parse(struct prefix *prefix, struct error *err)
{
	const char *p = prefix->template;

	while (*p) {
		size_t length = strcspn(p, "%");
		bool percent = p[length] == '%' && p[length + 1] == '%';

		if (prefix_text_add(prefix, p, length + percent))
			return -ENOMEM;
		p += length + 2 * percent;
		if (*p == '%' && !percent) {
			p = prefix_control(prefix, p, err);
			if (!p)
				return -EINVAL;
		}
	}
	return 0;
}

int prefix_parse(struct prefix **prefix, const char *template,
		 struct error *err)
{
	struct prefix *made = calloc(1, sizeof(*made));
	int code = -ENOMEM;

	error_no_memory(err);
	if (made)
		made->template = strdup(template);
	if (made && made->template) {
		escapes_replace(made->template);
		code = prefix_parts_parse(made, err);
	}
	if (code) {
		prefix_free(made);
		return code;
	}
	*prefix = made;
	return 0;
}

void prefix_free(struct prefix *prefix)
{
	if (!prefix)
		return;
	free(prefix->template);
	free(prefix->parts);
	free(prefix);
}

/* It ends with a line end: a line of its own. */
static bool prefix_is_line(const struct prefix *prefix)
{
	size_t length = strlen(prefix->template);

	return length && prefix->template[length - 1] == '\n';
}

static void part_put(struct prefix_part *part, const struct cell_source *source,
		     struct text *text)
{
	size_t start = text->used, have = 0, fill;

	cell_put(&part->cell, source, text);

	/* Count the characters of UTF-8. */
	for (size_t i = start; i < text->used; i++)
		have += (text->data[i] & 0xc0) != 0x80;

	if (have >= part->width)
		return;
	fill = part->width - have;
	text_add_blanks(text, fill);
	if (part->left || text->error)
		return;
	memmove(text->data + start + fill, text->data + start,
		text->used - start - fill);
	memset(text->data + start, ' ', fill);
}

/* Append it. See text->error. */
static void prefix_put(struct prefix *prefix, const struct cell_source *source,
		       struct text *text)
{
	for (size_t i = 0; i < prefix->count; i++) {
		struct prefix_part *part = &prefix->parts[i];

		if (part->is_cell)
			part_put(part, source, text);
		else
			text_add(text, part->text, part->length);
	}
}

/* A field that no event had: 0, or -ENOENT with err set. */
static int prefix_check(const struct prefix *prefix, struct error *err)
{
	int code = 0;

	for (size_t i = 0; i < prefix->count && !code; i++)
		if (prefix->parts[i].is_cell)
			code = columns_item_check(&prefix->parts[i].cell.item,
						  err);
	return code;
}

/* ---- the output ---- */

/*
 * Text in a form of one's own: with --prefix, in front of each line of a record
 * (or above it, when the template ends with a line end) instead of DESC and
 * header line; with --fields, one line "len=5 name="x"" of what was selected.
 */

struct prefixed {
	struct prefix *prefix;	/* NULL: none */
	struct columns columns;
	bool given;		/* an event was given out */
};

static void prefixed_free(struct output *output)
{
	struct prefixed *own = output->own;

	prefix_free(own->prefix);
	columns_free(&own->columns);
}

static int prefixed_open(struct output *output, struct text *text,
			 struct error *err)
{
	const struct output_settings *settings = output->settings;
	struct prefixed *own = output->own;
	int code = 0;

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
	.own_bytes = sizeof(struct prefixed),
	.open = prefixed_open,
	.event = prefixed_event,
	.close = prefixed_close,
	.free = prefixed_free,
};

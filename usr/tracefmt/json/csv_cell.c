// SPDX-License-Identifier: GPL-2.0
#include "csv_cell.h"

#include <errno.h>
#include <string.h>

#define NUMBER_ROOM	32

int csv_cell_word(struct text *text, const char *word)
{
	size_t n = strlen(word);

	if (text_reserve(text, n))
		return -ENOMEM;
	text->used = text_put(text->data + text->used, word, n) - text->data;
	return 0;
}

int csv_cell_char(struct text *text, char c)
{
	if (text_reserve(text, 1))
		return -ENOMEM;
	text->data[text->used++] = c;
	return 0;
}

int csv_cell_number(struct text *text, uint64_t number)
{
	if (text_reserve(text, NUMBER_ROOM))
		return -ENOMEM;
	text->used = text_put_decimal(text->data + text->used, number) -
		     text->data;
	return 0;
}

int csv_cell_safe(struct text *text, const void *bytes, size_t n)
{
	const char *at = bytes, *end = at + n, *slash;
	size_t start = text->used;
	char *p;

	if (text_reserve(text, 4 * n))
		return -ENOMEM;
	p = text->data + start;
	for (; (slash = memchr(at, '\\', end - at)); at = slash + 1)
		p = TEXT_PUT(text_put_safe(p, at, slash - at), "\\\\");
	text->used = text_put_safe(p, at, end - at) - text->data;
	return csv_cell_guard(text, start);
}

int csv_cell_guard(struct text *text, size_t start)
{
	char *cell;

	if (text_reserve(text, 1))
		return -ENOMEM;
	cell = text->data + start;
	if (text->used == start || !memchr("=+-@'", *cell, 5))
		return 0;
	memmove(cell + 1, cell, text->used - start);
	*cell = '\'';
	text->used++;
	return 0;
}

static size_t quotes_count(const char *cell, const char *end)
{
	size_t count = 0;

	for (; (cell = memchr(cell, '"', end - cell)); cell++)
		count++;
	return count;
}

/* From the end on: each quote is doubled, and one stands around all. */
static void cell_quote(char *cell, char *end, size_t quotes)
{
	char *to = end + quotes + 2, *quote;

	*--to = '"';
	while ((quote = memrchr(cell, '"', end - cell))) {
		to -= end - quote;
		memmove(to, quote, end - quote);
		*--to = '"';
		end = quote;
	}
	memmove(cell + 1, cell, end - cell);
	*cell = '"';
}

int csv_cell_end(struct text *text, size_t start)
{
	size_t n = text->used - start, quotes;
	char *cell = text->data + start;

	if (!memchr(cell, '"', n) && !memchr(cell, ',', n) &&
	    !memchr(cell, '\n', n))
		return 0;
	quotes = quotes_count(cell, cell + n);
	if (text_reserve(text, quotes + 2))
		return -ENOMEM;
	cell = text->data + start;
	cell_quote(cell, cell + n, quotes);
	text->used += quotes + 2;
	return 0;
}

void csv_cell_unquote(struct text *text, size_t start)
{
	char *to = text->data + start, *end = text->data + text->used - 1;

	if (*to != '"')
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

// SPDX-License-Identifier: GPL-2.0
#include "csv_cell.h"

#include <string.h>

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

void csv_cell_guard(struct text *text, size_t start)
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

void csv_cell_end(struct text *text, size_t start)
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

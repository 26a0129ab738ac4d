// SPDX-License-Identifier: GPL-2.0
#include "html_json.h"

#include "lib/read/read.h"

static char *escape_put(char *p, char c)
{
	switch (c) {
	case '"':
	case '\\':
		*p++ = '\\';
		*p++ = c;
		return p;
	case '\n':
		return TEXT_PUT(p, "\\n");
	case '\t':
		return TEXT_PUT(p, "\\t");
	case '<':
		return TEXT_PUT(p, "\\u003c");
	default:
		*p++ = c;
		return p;
	}
}

/* The safe text is at the end of the room, and is escaped from there: writing
 * never overtakes reading. */
char *html_put_string(char *p, const void *bytes, size_t n, bool layout)
{
	char *end = p + HTML_STRING_MAX(n), *safe = end - 4 * n;
	size_t length = safe_text_put(safe, bytes, n, layout) - safe;
	const char *from = memmove(end - length, safe, length);

	*p++ = '"';
	for (size_t i = 0; i < length; i++)
		p = escape_put(p, from[i]);
	*p++ = '"';
	return p;
}

void html_add_part(struct text *text, const char *string, size_t n)
{
	if (!text_reserve(text, HTML_STRING_MAX(n)))
		text->used = html_put_string(text->data + text->used, string, n,
					     true) - text->data;
}

void html_add_string(struct text *text, const char *string)
{
	html_add_part(text, string, strlen(string));
}

void html_add_signed(struct text *text, int64_t value)
{
	if (!text_reserve(text, NUMBER_MAX))
		text->used = number_put_signed(text->data + text->used, value,
					       64) - text->data;
}

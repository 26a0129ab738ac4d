// SPDX-License-Identifier: GPL-2.0
#include "lsp_text.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of the character at p: 1 if it is no UTF-8. */
static size_t character_bytes(const char *p, size_t left)
{
	static const uint8_t sizes[] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4,
	};
	size_t bytes = sizes[(uint8_t)*p >> 4];

	if (bytes > left || (uint8_t)*p > 0xf4)
		return 1;
	for (size_t i = 1; i < bytes; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 1;
	return bytes;
}

static uint32_t character_units(size_t bytes, enum lsp_encoding encoding)
{
	return encoding == LSP_UTF8 ? bytes : bytes == 4 ? 2 : 1;
}

static bool at_line_end(const char *text, size_t size, size_t at)
{
	return at == size || text[at] == '\n' || text[at] == '\r';
}

/* Past the line's end. */
static size_t line_end_skip(const char *text, size_t size, size_t at)
{
	if (at < size && text[at] == '\r' && at + 1 < size &&
	    text[at + 1] == '\n')
		return at + 2;
	return at < size ? at + 1 : at;
}

size_t lsp_text_offset(const char *text, size_t size,
		       struct lsp_position position, enum lsp_encoding encoding)
{
	uint32_t units = 0;
	size_t at = 0;

	for (uint32_t line = 0; line < position.line && at < size; line++) {
		while (!at_line_end(text, size, at))
			at++;
		at = line_end_skip(text, size, at);
	}
	while (!at_line_end(text, size, at) && units < position.character) {
		size_t bytes = character_bytes(text + at, size - at);

		units += character_units(bytes, encoding);
		if (units > position.character && encoding == LSP_UTF8)
			break;	/* in the middle of a character */
		at += bytes;
	}
	return at;
}

struct lsp_position lsp_text_position(const char *text, size_t size,
				      size_t offset, enum lsp_encoding encoding)
{
	struct lsp_position position = { 0 };
	size_t at = 0, bytes;

	if (offset > size)
		offset = size;
	while (at < offset) {
		if (at_line_end(text, size, at)) {
			at = line_end_skip(text, size, at);
			if (at > offset)	/* between \r and \n */
				break;
			position.line++;
			position.character = 0;
			continue;
		}
		bytes = character_bytes(text + at, size - at);
		if (at + bytes > offset)
			break;
		position.character += character_units(bytes, encoding);
		at += bytes;
	}
	return position;
}

struct lsp_range lsp_text_range(const char *text, size_t size, size_t start,
				size_t end, enum lsp_encoding encoding)
{
	return (struct lsp_range) {
		lsp_text_position(text, size, start, encoding),
		lsp_text_position(text, size, end, encoding),
	};
}

void lsp_text_marked(const char *text, size_t size, struct srcpos pos,
		     size_t *start, size_t *end)
{
	size_t at = 0, line_end;
	const char *found;

	for (uint32_t line = 1; line < pos.line && at < size; line++) {
		found = memchr(text + at, '\n', size - at);
		at = found ? (size_t)(found - text) + 1 : size;
	}
	for (line_end = at; !at_line_end(text, size, line_end); line_end++)
		;
	*start = at;
	*end = line_end;
	if (!pos.line)
		return;
	*start = pos.column - 1 < line_end - at ? at + pos.column - 1 : line_end;
	*end = pos.length < line_end - *start ? *start + pos.length : line_end;
}

void lsp_text_json(struct json *json, const char *key,
		   const struct lsp_range *range)
{
	const struct lsp_position *position = &range->start;

	json_open(json, key, '{');
	for (int i = 0; i < 2; i++, position = &range->end) {
		json_open(json, i ? "end" : "start", '{');
		json_number(json, "line", position->line);
		json_number(json, "character", position->character);
		json_close(json, '}');
	}
	json_close(json, '}');
}

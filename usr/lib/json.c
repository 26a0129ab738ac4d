// SPDX-License-Identifier: GPL-2.0
#include "json.h"

#include <math.h>
#include <string.h>
#include "number.h"
#include "text.h"

/* Printable ASCII that needs no escape. */
static inline bool json_is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static char *put_escape(char *p, uint8_t c)
{
	static const char letters[] = "btnvfr";	/* from 8 on; v is none */

	*p++ = '\\';
	if (c == '"' || c == '\\') {
		*p++ = c;
	} else if (c == '<') {
		p = TEXT_PUT(p, "u003c");
	} else if (c >= 8 && c <= 13 && c != 11) {
		*p++ = letters[c - 8];
	} else {
		p = TEXT_PUT(p, "u00");
		p = text_put_hex(p, c, 2);
	}
	return p;
}

/* One character; the line and paragraph separators end lines in JavaScript. */
static char *put_wide(char *p, const uint8_t *s, size_t length)
{
	if (length == 3 && s[0] == 0xe2 && s[1] == 0x80 &&
	    (s[2] == 0xa8 || s[2] == 0xa9))
		return s[2] == 0xa8 ? TEXT_PUT(p, "\\u2028") :
				      TEXT_PUT(p, "\\u2029");
	return text_put(p, (const char *)s, length);
}

#define BYTES(c)	(0x0101010101010101ULL * (c))

/* Which of 8 bytes aren't plain; where several are, the lowest is right. */
static inline uint64_t special(uint64_t x)
{
	uint64_t quote = x ^ BYTES('"'), slash = x ^ BYTES('\\');
	uint64_t low = (x - BYTES(0x20)) | (x + BYTES(1)) | x;

	return (low | (quote - BYTES(1)) | (slash - BYTES(1))) & BYTES(0x80);
}

/* As many as are plain for sure, 8 at a time. */
static inline char *json_put_plain(char *p, const uint8_t **s,
				   const uint8_t *end)
{
	const uint8_t *start = *s;
	uint64_t word;

	while (end - *s >= 8) {
		memcpy(&word, *s, 8);
		if (special(word))
			break;
		memcpy(p, &word, 8);
		*s += 8;
		p += 8;
	}
	if (end - *s >= 8 || end - start < 8)
		return p;
	memcpy(&word, end - 8, 8);	/* the last ones, some of them again */
	if (special(word))
		return p;
	p += end - *s;
	memcpy(p - 8, &word, 8);
	*s = end;
	return p;
}

static inline __attribute__((always_inline))
char *json_put_text(char *p, const uint8_t *s, size_t n,
		    enum json_bytes *invalid, bool html)
{
	const uint8_t *end = s + n;
	size_t length;

	*p++ = '"';
	if (!html)
		p = json_put_plain(p, &s, end);
	while (s < end) {
		if (json_is_plain(*s) && !(html && *s == '<')) {
			*p++ = *s++;
			continue;
		}
		if (*s < 0x80) {
			p = put_escape(p, *s++);
			continue;
		}
		length = safe_text_utf8(s, end - s);
		if (length) {
			p = put_wide(p, s, length);
			s += length;
			continue;
		}
		*invalid = JSON_BYTES_LOST;
		p = TEXT_PUT(p, "\xef\xbf\xbd");
		s++;
	}
	*p++ = '"';
	return p;
}

char *json_put_checked(char *p, const void *bytes, size_t n,
		       enum json_bytes *invalid)
{
	return json_put_text(p, bytes, n, invalid, false);
}

char *json_put_string(char *p, const void *bytes, size_t n)
{
	enum json_bytes invalid = JSON_BYTES_NONE;

	return json_put_checked(p, bytes, n, &invalid);
}

char *json_put_html(char *p, const void *bytes, size_t n)
{
	enum json_bytes invalid = JSON_BYTES_NONE;

	return json_put_text(p, bytes, n, &invalid, true);
}

#define ROW_OF(h) \
	h "0" h "1" h "2" h "3" h "4" h "5" h "6" h "7" \
	h "8" h "9" h "a" h "b" h "c" h "d" h "e" h "f"

char *json_put_hex(char *p, const uint8_t *data, size_t n)
{
	static const char pairs[] =
		ROW_OF("0") ROW_OF("1") ROW_OF("2") ROW_OF("3")
		ROW_OF("4") ROW_OF("5") ROW_OF("6") ROW_OF("7")
		ROW_OF("8") ROW_OF("9") ROW_OF("a") ROW_OF("b")
		ROW_OF("c") ROW_OF("d") ROW_OF("e") ROW_OF("f");

	*p++ = '"';
	for (size_t i = 0; i < n; i++, p += 2)
		memcpy(p, pairs + 2 * data[i], 2);
	*p++ = '"';
	return p;
}

char *json_put_float(char *p, const uint8_t *data, size_t bytes)
{
	double value;
	float narrow;

	if (bytes == sizeof(narrow)) {
		memcpy(&narrow, data, sizeof(narrow));
		value = narrow;
	} else {
		memcpy(&value, data, sizeof(value));
	}
	if (isnan(value))
		return TEXT_PUT(p, "\"NaN\"");
	if (isinf(value))
		return value < 0 ? TEXT_PUT(p, "\"-Infinity\"") :
				   TEXT_PUT(p, "\"Infinity\"");
	p = number_put_float(p, data, bytes);
	/* an integer has no sign of its zero */
	return value || !signbit(value) ? p : TEXT_PUT(p, ".0");
}

/* ---- at the end of a text ---- */

void json_add_string(struct text *text, const void *bytes, size_t n)
{
	if (!text_reserve(text, JSON_STRING_ROOM(n)))
		text->used = json_put_string(text->data + text->used, bytes,
					     n) - text->data;
}

void json_add_hex(struct text *text, const uint8_t *data, size_t n)
{
	if (!text_reserve(text, JSON_HEX_ROOM(n)))
		text->used = json_put_hex(text->data + text->used, data, n) -
			     text->data;
}

/* ---- documents ---- */

static char *json_put_line(const struct json *json, char *p)
{
	*p++ = '\n';
	memset(p, ' ', 2 * json->depth);
	return p + 2 * json->depth;
}

static char *json_put_any(const struct json *json, char *p, const char *value,
			  size_t n)
{
	return json->html ? json_put_html(p, value, n) :
			    json_put_string(p, value, n);
}

/* Called for every value of a record: room is made once. */
void json_key(struct json *json, const char *key)
{
	size_t n = key ? strlen(key) : 0;
	struct text *text = json->text;
	char *p;

	if (text_reserve(text, JSON_STRING_ROOM(n) + 2 * json->depth + 4))
		return;
	p = text->data + text->used;
	if (json->follows)
		*p++ = ',';
	if (json->style == JSON_INDENTED && json->depth)
		p = json_put_line(json, p);
	else if (json->style == JSON_LINES && json->follows)
		*p++ = key ? ' ' : '\n';
	if (key) {
		p = json_put_any(json, p, key, n);
		*p++ = ':';
		if (json->style != JSON_COMPACT)
			*p++ = ' ';
	}
	text->used = p - text->data;
	json->follows = true;
}

void json_open(struct json *json, const char *key, char bracket)
{
	json_key(json, key);
	text_add_char(json->text, bracket);
	json->depth++;
	json->follows = false;
}

void json_close(struct json *json, char bracket)
{
	struct text *text = json->text;

	json->depth--;
	if (json->style == JSON_INDENTED && json->follows &&
	    !text_reserve(text, 2 * json->depth + 1))
		text->used = json_put_line(json, text->data + text->used) -
			     text->data;
	text_add_char(text, bracket);
	if (json->style != JSON_COMPACT && !json->depth)
		text_add_char(json->text, '\n');
	json->follows = json->depth;
}

void json_string(struct json *json, const char *key, const char *value)
{
	size_t n = strlen(value);
	struct text *text = json->text;

	json_key(json, key);
	if (!text_reserve(text, JSON_STRING_ROOM(n)))
		text->used = json_put_any(json, text->data + text->used, value,
					  n) - text->data;
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	text_add_number(json->text, value);
}

void json_signed(struct json *json, const char *key, int64_t value)
{
	json_key(json, key);
	text_print(json->text, "%lld", (long long)value);
}

void json_boolean(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	text_add_string(json->text, value ? "true" : "false");
}

void json_null(struct json *json, const char *key)
{
	json_key(json, key);
	TEXT_ADD(json->text, "null");
}

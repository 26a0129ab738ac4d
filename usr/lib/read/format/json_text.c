// SPDX-License-Identifier: GPL-2.0
#include "json_text.h"

#include <math.h>
#include <string.h>
#include "lib/safe_text.h"
#include "number.h"
#include "text.h"

/* Printable ASCII that needs no escape. */
static inline bool is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static char *put_escape(char *p, uint8_t c)
{
	static const char letters[] = "btnvfr";	/* from 8 on; v is none */

	*p++ = '\\';
	if (c == '"' || c == '\\') {
		*p++ = c;
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
static inline char *put_plain(char *p, const uint8_t **s, const uint8_t *end)
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

static char *put_invalid(char *p, uint8_t c, enum json_bytes *invalid)
{
	if (*invalid != JSON_BYTES_KEPT) {
		*invalid = JSON_BYTES_LOST;
		return TEXT_PUT(p, "\xef\xbf\xbd");
	}
	return text_put_hex(TEXT_PUT(p, "\\udc"), c, 2);
}

char *json_put_checked(char *p, const void *bytes, size_t n,
		       enum json_bytes *invalid)
{
	const uint8_t *s = bytes, *end = s + n;
	size_t length;

	*p++ = '"';
	p = put_plain(p, &s, end);
	while (s < end) {
		if (is_plain(*s)) {
			*p++ = *s++;
			continue;
		}
		if (*s < 0x80) {
			p = put_escape(p, *s++);
			continue;
		}
		length = safe_text_utf8(s, end - s);
		p = length ? put_wide(p, s, length) :
			     put_invalid(p, *s, invalid);
		s += length ? length : 1;
	}
	*p++ = '"';
	return p;
}

char *json_put_string(char *p, const void *bytes, size_t n)
{
	enum json_bytes invalid = JSON_BYTES_NONE;

	return json_put_checked(p, bytes, n, &invalid);
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

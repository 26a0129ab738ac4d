/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON. Strings are valid UTF-8 and fit for a terminal whatever the bytes are:
 * controls are escaped, and what is not UTF-8 becomes U+FFFD.
 */
#ifndef LIB_JSON_H
#define LIB_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/text.h"

/* ---- values at p, which has enough room; the end is returned ---- */

/* The most that a string of n bytes, and n bytes in hex, take. */
#define JSON_STRING_ROOM(n)	(6 * (size_t)(n) + 2)
#define JSON_HEX_ROOM(n)	(2 * (size_t)(n) + 2)

/* What becomes of bytes that are not UTF-8. */
enum json_bytes {
	JSON_BYTES_NONE,	/* there were none so far */
	JSON_BYTES_LOST,	/* there were some: U+FFFD */
};

/* A string with its quotes. */
char *json_put_string(char *p, const void *bytes, size_t n);
char *json_put_checked(char *p, const void *bytes, size_t n,
		       enum json_bytes *invalid);
/* "<" is escaped: the string may be part of a script element of HTML. */
char *json_put_html(char *p, const void *bytes, size_t n);
/* "0a1b" */
char *json_put_hex(char *p, const uint8_t *data, size_t n);
/* IEEE of 4 or 8 bytes, at most NUMBER_MAX characters; what is not a number as
 * "NaN", "Infinity" or "-Infinity". */
char *json_put_float(char *p, const uint8_t *data, size_t bytes);

/* ---- at the end of a text ---- */

void json_add_string(struct text *text, const void *bytes, size_t n);
void json_add_hex(struct text *text, const uint8_t *data, size_t n);

/* ---- documents ---- */

enum json_style {
	JSON_COMPACT,		/* {"a":1,"b":[1,2]} */
	JSON_LINES,		/* {"a": 1, "b": [1,\n2]}\n */
	JSON_INDENTED,		/* a line for each member and element */
};

/* Writes commas, line ends and brackets. The caller sets the first three. */
struct json {
	struct text *text;
	enum json_style style;
	bool html;		/* see json_put_html() */
	bool follows;		/* something precedes in this bracket */
	unsigned int depth;
};

/* key is NULL in an array and at the top. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
void json_boolean(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
/* What goes before a value that the caller appends to json->text. */
void json_key(struct json *json, const char *key);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of JSON, written at p; the end is returned. Strings are valid UTF-8 and
 * fit for a terminal whatever the bytes are: controls are escaped, and what is
 * no UTF-8 text is U+FFFD.
 */
#ifndef TRACEFMT_JSON_TEXT_H
#define TRACEFMT_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most that json_put_string() and json_put_hex() write. */
#define JSON_STRING_ROOM(n)	(6 * (size_t)(n) + 2)
#define JSON_HEX_ROOM(n)	(2 * (size_t)(n) + 2)

/* With its quotes. */
char *json_put_string(char *p, const void *bytes, size_t n);
/* What becomes of bytes that are no UTF-8 text. */
enum json_bytes {
	JSON_BYTES_NONE,	/* there is none so far */
	JSON_BYTES_LOST,	/* there was one: U+FFFD */
	JSON_BYTES_KEPT,	/* as set by the caller: \udc80 to \udcff, which
				 * no text has */
};
char *json_put_checked(char *p, const void *bytes, size_t n,
		       enum json_bytes *invalid);
/* "0a1b" */
char *json_put_hex(char *p, const uint8_t *data, size_t n);
/* IEEE of 4 or 8 bytes, at most NUMBER_MAX characters; what is no number as
 * "NaN", "Infinity" or "-Infinity". */
char *json_put_float(char *p, const uint8_t *data, size_t bytes);

#endif

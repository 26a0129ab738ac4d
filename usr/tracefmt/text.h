/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The output: records are rendered into memory by hand-written conversions
 * and written in large pieces. text_put_* write at p and return the end.
 */
#ifndef TRACEFMT_TEXT_H
#define TRACEFMT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "../lib/safe_text.h"

struct text {
	char *data;
	size_t used, size;
	int fd;
	int error;		/* first errno met, kept */
};

/* 0 or -ENOMEM. */
int text_open(struct text *text, int fd);
/* Room for n more bytes at data + used; 0 or -ENOMEM, kept in error too. */
int text_reserve(struct text *text, size_t n);
/* Write out when there is much; between records. */
void text_pass(struct text *text);
/* Write out what there is: the first error met (0, or a negative errno). */
int text_flush(struct text *text);
/* Write all; the first error met (0, or a negative errno), and free. */
int text_close(struct text *text);

extern const char text_digits[];	/* hexadecimal, upper case */

static inline char *text_put(char *p, const char *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return p + n;
}

#define TEXT_PUT(p, literal) text_put(p, literal, sizeof(literal) - 1)

static inline char *text_put_hex(char *p, uint64_t value, int digits)
{
	for (int i = digits - 1; i >= 0; i--, value >>= 4)
		p[i] = text_digits[value & 0xf];
	return p + digits;
}

/* At most 20 digits. */
char *text_put_decimal(char *p, uint64_t value);
/* Exactly `digits`, with zeros in front. */
char *text_put_padded(char *p, uint64_t value, int digits);

#define TEXT_ROW	16	/* bytes of a row */
#define TEXT_ROW_MAX	80	/* characters of it */
/* Row of a dump with what of the n bytes stands from `row` on:
 * "+0010  64 65 66 0A                                      def." */
char *text_put_row(char *p, const uint8_t *data, size_t n, size_t row);

/* See safe_text.h: a string, and a format's text with its line ends. */
static inline char *text_put_safe(char *p, const void *bytes, size_t n)
{
	return safe_text_put(p, bytes, n, false);
}

static inline char *text_put_layout(char *p, const void *bytes, size_t n)
{
	return safe_text_put(p, bytes, n, true);
}

#endif

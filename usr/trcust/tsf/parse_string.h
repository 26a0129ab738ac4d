/* SPDX-License-Identifier: GPL-2.0 */
/* Literals: the escapes of C, the controls of FMT. */
#ifndef TRCUST_PARSE_STRING_H
#define TRCUST_PARSE_STRING_H

#include "parser.h"

struct parse_string {
	struct token token;
	char *text;
	size_t length;
};

bool parse_string(struct parser *p, struct parse_string *string);
/*
 * The escape whose backslash is at p, before end: how many bytes it takes, 0
 * when it is none of C or GNU. There is a character after the backslash.
 */
size_t parse_escape(const char *p, const char *end, char *c);
/* Warn of a control of a FMT that doesn't exist. */
void parse_string_controls(struct parser *p, const struct parse_string *string);
/* Where the bytes of fmt->text from `index` on are in the TSF. */
struct srcpos parse_string_place(const struct tsf_fmt *fmt, size_t index,
				 size_t length);

#endif

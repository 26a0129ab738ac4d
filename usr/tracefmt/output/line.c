// SPDX-License-Identifier: GPL-2.0
#include "line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define PRINT_GUESS	256

void line_add(struct text *text, const char *bytes, size_t n)
{
	if (text_reserve(text, n))
		return;
	text->used = text_put(text->data + text->used, bytes, n) - text->data;
}

void line_add_string(struct text *text, const char *string)
{
	line_add(text, string, strlen(string));
}

void line_add_number(struct text *text, uint64_t number)
{
	char digits[20];

	line_add(text, digits, text_put_decimal(digits, number) - digits);
}

void line_add_blanks(struct text *text, size_t n)
{
	if (text_reserve(text, n))
		return;
	memset(text->data + text->used, ' ', n);
	text->used += n;
}

void line_print(struct text *text, const char *fmt, ...)
{
	size_t room = PRINT_GUESS;
	va_list args;
	int n;

	while (!text_reserve(text, room)) {
		va_start(args, fmt);
		n = vsnprintf(text->data + text->used, room, fmt, args);
		va_end(args);
		if (n < 0)
			return;
		if ((size_t)n < room) {
			text->used += n;
			return;
		}
		room = (size_t)n + 1;
	}
}

// SPDX-License-Identifier: GPL-2.0
#include "arch_a64_text.h"

#include <stdarg.h>
#include <stdio.h>

void a64_text_add(struct a64_text *text, const char *format, ...)
{
	size_t room = text->used < text->size ? text->size - text->used : 0;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(room ? text->out + text->used : NULL, room, format,
			   args);
	va_end(args);
	text->used += length > 0 ? length : 0;
}

void a64_text_register(struct a64_text *text, char letter, unsigned int number,
		       char kind_of_31)
{
	if (number != 31)
		a64_text_add(text, "%c%u", letter, number);
	else if (kind_of_31 == 'z')
		a64_text_add(text, "%czr", letter);
	else
		a64_text_add(text, letter == 'w' ? "wsp" : "sp");
}

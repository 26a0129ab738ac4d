/* SPDX-License-Identifier: GPL-2.0 */
/* Text in small pieces. Without memory nothing is appended, which text->error
 * keeps: many calls need one look at it. */
#ifndef TRACEFMT_LINE_H
#define TRACEFMT_LINE_H

#include "lib/read/read.h"

void line_add(struct text *text, const char *bytes, size_t n);
void line_add_string(struct text *text, const char *string);
void line_add_number(struct text *text, uint64_t number);
/* So many blanks. */
void line_add_blanks(struct text *text, size_t n);
/* Where speed doesn't matter. */
void line_print(struct text *text, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define LINE_ADD(text, literal)	line_add(text, literal, sizeof(literal) - 1)

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* JSON that may be in a script element of a page: it has no "<". */
#ifndef TRACEFMT_HTML_JSON_H
#define TRACEFMT_HTML_JSON_H

#include <stdint.h>
#include "lib/read/read.h"

#define HTML_STRING_MAX(n)	(6 * (n) + 2)

/* A string of n bytes from anywhere, made safe as in text.h (layout: its
 * line ends and tabs are kept) at p, which has HTML_STRING_MAX(n) bytes;
 * returns the end. */
char *html_put_string(char *p, const void *bytes, size_t n, bool layout);
/* At the end of text; a failure is kept there. */
void html_add_string(struct text *text, const char *string);
/* The first n bytes of it. */
void html_add_part(struct text *text, const char *string, size_t n);
void html_add_signed(struct text *text, int64_t value);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text that may come from anywhere, made fit for a terminal: printable ASCII
 * and valid UTF-8 from U+00A0 as they stand, \n, \t and \r by letter, the rest
 * as \xHH, so that no terminal obeys it. layout: line ends and tabs are meant
 * and stay.
 */
#ifndef LIB_SAFE_TEXT_H
#define LIB_SAFE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* At most 4 bytes for each of n are written to p; returns the end. */
char *safe_text_put(char *p, const void *bytes, size_t n, bool layout);
void safe_text_print(FILE *out, const char *text, bool layout);

#endif

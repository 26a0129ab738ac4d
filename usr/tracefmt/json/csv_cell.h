/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cells of a table (RFC 4180): text is appended, then made a cell. One that is
 * empty isn't there (NULL), one that is "" is empty text. Text is made fit for a
 * terminal (text.h); an apostrophe precedes what begins like a formula of a
 * spreadsheet. An error is kept in text.
 */
#ifndef TRACEFMT_CSV_CELL_H
#define TRACEFMT_CSV_CELL_H

#include "json_field.h"

/* Append any bytes, fit for a terminal, with two backslashes for one, and no
 * formula. */
void csv_cell_safe(struct text *text, const void *bytes, size_t n);
/* What was appended from `start` on becomes a cell: it gets quotes if it needs
 * them. Text that is empty needs them: without, it isn't there. */
void csv_cell_end(struct text *text, size_t start, bool there);
/* A JSON string that was appended loses its quotes, and quotes in it their
 * escapes; other escapes stay. */
void csv_cell_unquote(struct text *text, size_t start);
/* Append the value of a column of its own; *note as json_add_field() sets it.
 * Returns whether it is text. */
bool csv_value_add(const struct json_field *of, struct text *text,
		   uint8_t *note);

#endif

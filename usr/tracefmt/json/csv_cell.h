/* SPDX-License-Identifier: GPL-2.0 */
/* Cells of a table: text is appended, then made a cell. Each is 0 or
 * -ENOMEM. */
#ifndef TRACEFMT_CSV_CELL_H
#define TRACEFMT_CSV_CELL_H

#include "lib/read/read.h"

int csv_cell_word(struct text *text, const char *word);
int csv_cell_char(struct text *text, char c);
int csv_cell_number(struct text *text, uint64_t number);
/* Any bytes, fit for a terminal (safe_text.h), with two backslashes for one,
 * and no formula. */
int csv_cell_safe(struct text *text, const void *bytes, size_t n);
/* What was appended from `start` on becomes a cell: in quotes where it takes
 * them. */
int csv_cell_end(struct text *text, size_t start);
/* What was appended is no formula: it gets a ' where it may be one, or has one
 * already. */
int csv_cell_guard(struct text *text, size_t start);
/* What was appended loses the quotes that JSON has around strings, and quotes in
 * it their escapes; other escapes stay. */
void csv_cell_unquote(struct text *text, size_t start);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Cells of a table: text is appended, then made a cell. Errors are kept in the
 * text. */
#ifndef TRACEFMT_CSV_CELL_H
#define TRACEFMT_CSV_CELL_H

#include "lib/read/read.h"

/* Append any bytes, fit for a terminal (safe_text.h), with two backslashes for
 * one, and no formula. */
void csv_cell_safe(struct text *text, const void *bytes, size_t n);
/* What was appended from `start` on becomes a cell: it gets quotes if it needs
 * them. */
void csv_cell_end(struct text *text, size_t start);
/* What was appended is no formula: it gets a ' where it may be one, or begins
 * with one. */
void csv_cell_guard(struct text *text, size_t start);
/* A JSON string that was appended loses its quotes, and quotes in it their
 * escapes; other escapes stay. */
void csv_cell_unquote(struct text *text, size_t start);

#endif

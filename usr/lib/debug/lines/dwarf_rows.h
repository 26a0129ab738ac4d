/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of a line number program that are of code, sequence by sequence: not
 * those of sequences that the linker left out, nor of ones without code, nor
 * those at the address where their sequence ends.
 */
#ifndef LIB_DWARF_ROWS_H
#define LIB_DWARF_ROWS_H

#include "dwarf_program.h"

/* By address; of the same address in their order, an end of a sequence first. */
struct dwarf_rows {
	struct dwarf_row *list;
	size_t count;
};

/* `is_code` is asked whether there is code where a sequence begins.
 * 0 or -ENOMEM. */
int dwarf_rows_read(struct dwarf_rows *rows,
		    const struct dwarf_program *program,
		    bool (*is_code)(const void *context, uint64_t address),
		    const void *context);
void dwarf_rows_free(struct dwarf_rows *rows);

/* The rows of the address, from *first up to *end; where it has none the one
 * before. False: there is no such row. */
bool dwarf_rows_find(const struct dwarf_rows *rows, uint64_t address,
		     size_t *first, size_t *end);

#endif

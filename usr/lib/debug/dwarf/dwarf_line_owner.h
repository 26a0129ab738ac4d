/* SPDX-License-Identifier: GPL-2.0 */
/* Which of the functions around an address a source line belongs to. */
#ifndef TRCUST_DWARF_LINE_OWNER_H
#define TRCUST_DWARF_LINE_OWNER_H

#include "dwarf_scope.h"

/* A row of the line table where a statement begins. */
struct dwarf_line_row {
	uint64_t address;
	uint32_t line;
	uint32_t file, view;	/* as in struct dwarf_row */
	const char *path;	/* of the file */
};

/* The number of the block that is this function or inlined copy. The scopes are
 * those at the row's address. */
uint32_t dwarf_line_owner(struct dwarf_file *dwarf, struct dwarf_scopes *scopes,
			  const struct dwarf_line_row *row);

#endif

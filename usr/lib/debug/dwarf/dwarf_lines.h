/* SPDX-License-Identifier: GPL-2.0 */
/* The line tables of all units, read when needed. */
#ifndef TRCUST_DWARF_LINES_H
#define TRCUST_DWARF_LINES_H

#include "lib/debug/lines/lines.h"
#include "lib/hash_index.h"
#include "dwarf_file.h"

/* The rows of a unit for code of the module. */
struct line_table {
	struct dwarf_rows rows;
	char **paths;		/* of its files, made when asked for */
	size_t path_count;
};

struct line_unit {
	uint64_t program;	/* its offset in .debug_line */
	const char *directory;	/* where it was compiled, or NULL */
	struct line_table *table;
};

struct lines {
	struct dwarf_program_sections sections;
	struct line_unit *units;	/* by program */
	size_t unit_count, unit_room;
	struct hash_index names;	/* units by names of their files,
					 * without directories */
	void *sources;		/* dwarf_source.c: what was looked for */
	void (*sources_free)(void *sources);
};

/* NULL: no memory. */
struct lines *dwarf_lines_get(struct dwarf_file *dwarf);
void dwarf_lines_free(struct dwarf_file *dwarf);

/* The unit's part; NULL: it has none. */
struct line_unit *dwarf_lines_unit(struct lines *lines, Dwarf_Die *unit);
/* The path of a file by its number in the unit, malloc'd; NULL: not known. */
char *dwarf_lines_path(struct dwarf_file *dwarf, Dwarf_Die *unit,
		       uint64_t number);
/* The file that declares the entry, or its origin, by the unit's file table.
 * NULL: unknown. */
const char *dwarf_line_decl_file(Dwarf_Die *die);

/* Has the unit's file of this number (DW_AT_decl_file) the wanted name? */
bool dwarf_line_unit_file_matches(struct dwarf_file *dwarf, Dwarf_CU *unit,
				  uint64_t number, const char *wanted);
/* Its rows; NULL: none, or no memory. */
struct line_table *dwarf_lines_read(struct dwarf_file *dwarf,
				    struct line_unit *unit);
/* Both. */
struct line_table *dwarf_lines_table(struct dwarf_file *dwarf,
				     Dwarf_Die *unit);

/* Units that have a file of this name (without directories; in either case).
 * *position starts as 0. NULL: no more; *failed: no memory. */
struct line_unit *dwarf_lines_next(struct lines *lines, const char *name,
				   uint32_t *position, bool *failed);

#endif

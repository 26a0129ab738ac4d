/* SPDX-License-Identifier: GPL-2.0 */
/* The line tables of all units (DWARF 5 section 6.2), read when needed; from
 * addresses to lines. */
#ifndef TRCUST_DWARF_LINES_H
#define TRCUST_DWARF_LINES_H

#include "lib/debug/lines/lines.h"
#include "lib/key_map.h"
#include "dwarf_scope.h"

/* The rows of a unit for code of the module. */
struct line_table {
	struct dwarf_rows rows;
	char **paths;		/* of its files, made when asked for */
	size_t path_count, path_room;
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
};

/* NULL: no memory. */
struct lines *dwarf_lines_get(struct dwarf_file *dwarf);
/* The path of a file by its number in the unit, malloc'd; NULL: not known. */
char *dwarf_lines_path(struct dwarf_file *dwarf, Dwarf_Die *unit,
		       uint64_t number);
/* The file that declares the entry, or its origin, by the unit's file table.
 * NULL: unknown. */
const char *dwarf_line_decl_file(Dwarf_Die *die);

/* Has the unit's file of this number (DW_AT_decl_file) the wanted name? */
bool dwarf_line_unit_file_matches(struct dwarf_file *dwarf, Dwarf_CU *unit,
				  uint64_t number, const char *wanted);
/* The rows of a program, which is the unit's; NULL: no memory. */
struct line_table *dwarf_lines_read(struct dwarf_file *dwarf,
				    struct line_unit *unit,
				    const struct dwarf_program *program);
void dwarf_lines_forget(struct line_unit *unit);
/* The rows of the unit; NULL: none, or no memory. */
struct line_table *dwarf_lines_table(struct dwarf_file *dwarf, Dwarf_Die *unit);

/* Units that have a file of this name (without directories; in either case).
 * *position starts as 0. NULL: no more; *failed: no memory. */
struct line_unit *dwarf_lines_next(struct lines *lines, const char *name,
				   uint32_t *position, bool *failed);

/* Which of the functions around the row's address it belongs to: the number of
 * the block that is this function or inlined copy. `path`: of the row's file. */
uint32_t dwarf_line_owner(struct dwarf_file *dwarf, struct dwarf_scopes *scopes,
			  const struct dwarf_row *row, const char *path);

/* "file:line" of a declaration, malloc'd; NULL: not known. */
char *dwarf_line_declared(struct dwarf_file *dwarf, const Dwarf_Die *die);

/* The source line of the code at address. */
bool dwarf_line_of(struct dwarf_file *dwarf, uint64_t address,
		   const char **file, uint32_t *line);
/* The same, of the function that names are looked up in, where it has one
 * there. */
bool dwarf_line_from(struct dwarf_file *dwarf, const struct dwarf_from *from,
		     const char **file, uint32_t *line);
/* The line is one where a statement begins at exactly this address. */
bool dwarf_line_begins(struct dwarf_file *dwarf, uint64_t address);

/*
 * Call take(context, address) for each place in the range where the statement
 * at line and column of the file begins; stops when that returns non-zero, which
 * is returned.
 */
int dwarf_line_each(struct dwarf_file *dwarf, const struct module_range *range,
		    const char *file, uint32_t line, uint32_t column,
		    int (*take)(void *context, uint64_t address),
		    void *context);

/*
 * Where the body of the function that begins at `start` and ends before `end`
 * begins, after its prologue: a row marked so, else the second row of the
 * function's line table that begins a statement.
 */
bool dwarf_prologue_find(struct dwarf_file *dwarf, uint64_t start,
			 uint64_t end, uint64_t *address);

#endif

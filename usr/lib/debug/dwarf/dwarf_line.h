/* SPDX-License-Identifier: GPL-2.0 */
/* The line table: source lines to addresses and back (DWARF 5 section 6.2). */
#ifndef TRCUST_DWARF_LINE_H
#define TRCUST_DWARF_LINE_H

#include "dwarf_file.h"

/* "file:line" of a declaration, malloc'd; NULL: not known. */
char *dwarf_line_declared(struct dwarf_file *dwarf, const Dwarf_Die *die);

enum dwarf_line_verdict {
	DWARF_LINE_FOUND,
	DWARF_LINE_PART,	/* it has code that begins no statement */
	DWARF_LINE_NEXT,	/* the next line with code: result->line */
	DWARF_LINE_PAST,	/* after the last line with code, which is
				 * result->line */
	DWARF_LINE_NO_FILE,	/* no unit has a file of this name */
};

struct dwarf_line_site {
	uint64_t address;
	const void *function;	/* address of the entry of the function or copy
				 * that the line is of; NULL: not known */
	uint32_t file;		/* its number in the unit */
	uint64_t end;		/* of the line's code there */
	bool optimized;
	bool marked;		/* gcc: the statement is executed there, once
				 * each time */
	bool repeated;		/* marked several times in one, where no code is
				 * left between */
	bool rest;		/* the line goes on there, or begins without
				 * being known to */
};

struct dwarf_line_sites {
	enum dwarf_line_verdict verdict;
	uint32_t line;
	struct dwarf_line_site *sites;	/* ascending; where the line's first
					 * statement begins, in every function,
					 * inlined copy or instance of a
					 * template; in optimised code where
					 * each copy of it does */
	size_t count;
	struct dwarf_line_site *rests;	/* ascending: its other rows */
	size_t rest_count;
	bool scattered;		/* PART: a function has it at several places */
	const char *file;	/* full name, of the first */
	bool several_files;	/* the name fits more than one file */
};

/*
 * dwarf_source.c: look for file (in either case; its last parts of the path,
 * "a/b.c" or "b.c") and line. 0 or -ENOMEM.
 */
int dwarf_line_find(struct dwarf_file *dwarf, const char *file, uint32_t line,
		    struct dwarf_line_sites *result);
void dwarf_line_sites_free(struct dwarf_line_sites *result);

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

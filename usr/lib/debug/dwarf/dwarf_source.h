/* SPDX-License-Identifier: GPL-2.0 */
/* From lines of a source file to addresses. */
#ifndef TRCUST_DWARF_SOURCE_H
#define TRCUST_DWARF_SOURCE_H

#include "dwarf_file.h"

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
 * Look for file (in either case; its last parts of the path,
 * "a/b.c" or "b.c") and line. 0 or -ENOMEM.
 */
int dwarf_line_find(struct dwarf_file *dwarf, const char *file, uint32_t line,
		    struct dwarf_line_sites *result);
void dwarf_line_sites_free(struct dwarf_line_sites *result);

#endif

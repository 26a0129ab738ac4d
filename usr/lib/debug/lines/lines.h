/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which source line and which unit has the code at an address.
 *
 * Line number programs (DWARF 2 to 5, section 6.2), run without keeping
 * their rows: libdw keeps 40 bytes per row, and reads all rows of a unit to
 * find the names of its files.
 */
#ifndef DEBUG_LINES_H
#define DEBUG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_bytes {
	const uint8_t *data;
	size_t size;
};

struct dwarf_program_sections {
	struct dwarf_bytes line, line_str, str;
};

struct dwarf_program_file {
	const char *name;
	uint64_t directory;
};

struct dwarf_program {
	uint16_t version;
	uint8_t offset_size;
	uint8_t insn_length, line_range, opcode_base;
	int8_t line_base;
	bool is_stmt;			/* at the start of a sequence */
	const uint8_t *opcode_lengths;
	const uint8_t *code, *end;
	struct dwarf_program_file *directories;
	size_t directory_count;
	struct dwarf_program_file *files;	/* as rows number them */
	size_t file_count;
};

#define DWARF_VIEW_MAX	511

struct dwarf_row {
	uint64_t address;
	uint32_t line;
	uint32_t file : 20;
	uint32_t view : 9;	/* how many rows of the address are before,
				 * DWARF_VIEW_MAX at most */
	uint32_t is_stmt : 1;
	uint32_t prologue_end : 1;
	uint32_t end_sequence : 1;
	uint16_t column;	/* 0: not known; UINT16_MAX: that or more */
};

/* Read the header of the program at offset. 0, -EINVAL: damaged or of an
 * unknown version, -ENOMEM. */
int dwarf_program_open(struct dwarf_program *program,
		       const struct dwarf_program_sections *sections,
		       uint64_t offset);
void dwarf_program_close(struct dwarf_program *program);
/* Where the program at offset ends; 0: not in the section. */
uint64_t dwarf_program_end(const struct dwarf_program_sections *sections,
			   uint64_t offset);

/*
 * Give the rows in the program's order; within a sequence addresses don't go
 * back: rows that do are left out, an end is at the highest. Stops when `take`
 * returns non-zero, which it returns, and at damage.
 */
int dwarf_program_run(const struct dwarf_program *program,
		      int (*take)(void *context, const struct dwarf_row *row),
		      void *context);

/*
 * The whole name of a file, "." and ".." resolved, malloc'd; `compiled_in` is
 * the directory of the unit (DW_AT_comp_dir), or NULL. NULL: there is no such
 * file, or no memory.
 */
char *dwarf_program_path(const struct dwarf_program *program, size_t file,
			 const char *compiled_in);

/*
 * The rows of a line number program that are of code, sequence by sequence:
 * not those of sequences that the linker left out, nor of ones without code,
 * nor those at the address where their sequence ends. By address; of the same
 * address in their order, an end of a sequence first.
 */
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

/* Which unit of debug information has the code at an address, by each unit's own
 * ranges: .debug_aranges, which libdw uses, is optional (clang omits it). */
struct unit_ranges {
	struct unit_range {
		uint64_t start, end;
		uint64_t unit;		/* the caller's number for it */
	} *list;
	size_t count, room;
};

/* False: no memory. */
bool unit_ranges_add(struct unit_ranges *ranges, uint64_t start, uint64_t end,
		     uint64_t unit);
/* Call it after the last one was added. */
void unit_ranges_sort(struct unit_ranges *ranges);
bool unit_ranges_find(const struct unit_ranges *ranges, uint64_t address,
		      uint64_t *unit);

#endif

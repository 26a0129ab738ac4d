/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Line number programs (DWARF 2 to 5, section 6.2), run without keeping
 * their rows: libdw keeps 40 bytes per row, and reads all rows of a unit to
 * find the names of its files.
 */
#ifndef LIB_DWARF_PROGRAM_H
#define LIB_DWARF_PROGRAM_H

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
	const char **directories;
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

#endif

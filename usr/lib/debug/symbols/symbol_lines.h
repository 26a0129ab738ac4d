/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Source lines of a file's code, from .debug_line. libdw keeps all rows of a unit
 * in one order: at an address where one sequence ends and another one begins it
 * may give the line that ends.
 */
#ifndef DEBUG_SYMBOL_LINES_H
#define DEBUG_SYMBOL_LINES_H

#include "lib/debug/lines/dwarf_rows.h"
#include "lib/debug/lines/unit_ranges.h"
#include "lib/key_map.h"
#include "symbol_elf.h"
#include "symbol_place.h"
#include "symbol_library.h"

/* The first members are set by the caller; the rest is 0. */
struct symbol_lines {
	const struct symbol_library *library;
	const struct symbol_elf *elf;
	Dwfl_Module *module;
	uint64_t bias;			/* libdw's addresses over the file's */
	bool *failed;			/* set when there is no memory */

	bool read;			/* the members that follow */
	uint64_t dwarf_bias;		/* libdw's addresses over the debug
					 * information's */
	struct unit_ranges units;	/* addresses of Dwarf_Die */
	struct dwarf_bytes lists;	/* .debug_rnglists */
	struct dwarf_program_sections sections;
	size_t left;			/* bytes of programs not read yet */
	struct key_map programs;	/* struct symbol_program, by offset */
};

/* File and line of an address as libdw counts it; strings stay until
 * symbol_lines_close(). */
void symbol_lines_find(struct symbol_lines *lines, uint64_t address,
		       struct symbols_place *place);
void symbol_lines_close(struct symbol_lines *lines);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Source lines of a file's code, by what .debug_line has. libdw's own are all
 * rows of a unit in one order: at an address where one sequence ends and another
 * one begins it may tell the line that ends.
 */
#ifndef TRACEFMT_SYMBOL_LINES_H
#define TRACEFMT_SYMBOL_LINES_H

#include "lib/debug/lines/dwarf_rows.h"
#include "lib/key_map.h"
#include "symbol_elf.h"
#include "symbol_units.h"
#include "lib/read/read.h"

struct symbol_lines {
	const struct symbol_library *library;
	const struct symbol_elf *elf;
	struct dwfl_module *module;
	uint64_t bias;			/* libdw's addresses over the file's */
	uint64_t dwarf_bias;		/* ... over the debug information's */
	bool read;			/* what follows */
	struct symbol_units units;
	struct dwarf_program_sections sections;
	size_t left;			/* bytes of programs not read yet */
	struct key_map programs;	/* struct symbol_program, by offset */
	bool *failed;
};

/* Of a module of libdw's; `bias` is its file's. *failed is set where something
 * isn't known for want of memory. */
void symbol_lines_open(struct symbol_lines *lines,
		       const struct symbol_library *library,
		       struct dwfl_module *module, uint64_t bias,
		       const struct symbol_elf *elf, bool *failed);
/* File and line of an address as libdw has it; strings stay until they are
 * closed. */
void symbol_lines_find(struct symbol_lines *lines, uint64_t address,
		       struct symbols_place *place);
void symbol_lines_close(struct symbol_lines *lines);

#endif

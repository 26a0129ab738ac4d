/* SPDX-License-Identifier: GPL-2.0 */
/* Debug information of the module, in its own file or in one beside it. */
#ifndef TRCUST_DWARF_H
#define TRCUST_DWARF_H

#include <stdbool.h>
#include <stdint.h>
#include "module.h"

struct dwarf_file;

/*
 * Look in the module, then for a separate file that belongs to it: by build-id
 * and by .gnu_debuglink, beside `file` and in SYSROOT/usr/lib/debug. When the
 * module was stripped, its symbols are taken from there. NULL: there is none.
 */
struct dwarf_file *dwarf_file_open(struct module *module, const char *file,
				   const char *sysroot);
void dwarf_file_close(struct dwarf_file *dwarf);

/*
 * Where the prologue of the function [start, end) ends, by the line table: at
 * the row marked so, else at the second statement. False: no rows for it.
 */
bool dwarf_prologue_find(struct dwarf_file *dwarf, uint64_t start,
			 uint64_t end, uint64_t *address);

/* The name is a variable or parameter in scope at address. */
bool dwarf_variable_known(struct dwarf_file *dwarf, uint64_t address,
			  const char *name);

#endif

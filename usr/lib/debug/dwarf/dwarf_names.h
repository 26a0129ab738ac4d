/* SPDX-License-Identifier: GPL-2.0 */
/* Functions and inlined copies by name. */
#ifndef TRCUST_DWARF_NAMES_H
#define TRCUST_DWARF_NAMES_H

#include "dwarf_file.h"

/*
 * Give every entry of a function or inlined copy that name and file mean, as
 * dwarf_function_find() has them. Stops when `take` returns non-zero, which it
 * returns; -ENOMEM.
 */
int dwarf_names_find(struct dwarf_file *dwarf, const char *name,
		     const char *file,
		     int (*take)(void *context, Dwarf_Die *die), void *context);
void dwarf_names_free(struct dwarf_file *dwarf);

#endif

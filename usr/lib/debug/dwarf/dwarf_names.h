/* SPDX-License-Identifier: GPL-2.0 */
/* Functions and inlined copies by name: dwarf_function_find(). */
#ifndef TRCUST_DWARF_NAMES_H
#define TRCUST_DWARF_NAMES_H

#include "dwarf_file.h"

void dwarf_names_free(struct dwarf_file *dwarf);

#endif

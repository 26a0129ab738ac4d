/* SPDX-License-Identifier: GPL-2.0 */
/* Debug information that isn't in the module's own file. */
#ifndef TRCUST_DWARF_FIND_H
#define TRCUST_DWARF_FIND_H

#include "dwarf_file.h"

/*
 * Fill in fd, elf, path and dwarf of `dwarf`. 0; -ENOENT: there is none
 * (err->text: why one wasn't taken, or ""); else a negative errno with err
 * set.
 */
int dwarf_find(struct dwarf_file *dwarf, const char *module_path,
	       const struct dwarf_search *search, struct error *err);
/* The file that several debug files share (dwz), when this one needs it;
 * dwarf->note when it is missing. */
void dwarf_find_shared(struct dwarf_file *dwarf,
		       const struct dwarf_search *search);

/* dwarf_string.c: every string of the file ends in its section. */
bool dwarf_strings_end(Dwarf *dwarf);
/* The same of a file of split debug information, which is checked once. */
bool dwarf_split_strings_end(struct dwarf_file *dwarf, Dwarf *own);

#endif

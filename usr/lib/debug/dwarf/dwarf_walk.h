/* SPDX-License-Identifier: GPL-2.0 */
/* The functions and inlined copies of a unit, in the order of the entries. */
#ifndef TRCUST_DWARF_WALK_H
#define TRCUST_DWARF_WALK_H

#include "dwarf_file.h"

struct dwarf_walk {
	/* Takes a DW_TAG_subprogram or DW_TAG_inlined_subroutine; non-zero
	 * ends the walk and is what it returns. */
	int (*take)(struct dwarf_walk *walk, Dwarf_Die *die, int tag);
	void *context;

	const void *last;	/* the walk's own: entries come in order */
	bool classes;		/* the walk's own: classes may hold functions */
};

int dwarf_walk_unit(struct dwarf_walk *walk, Dwarf_Die *unit);
/* All compilation units; of split ones those that have the entries. */
int dwarf_walk_all(struct dwarf_walk *walk, struct dwarf_file *dwarf);

#endif

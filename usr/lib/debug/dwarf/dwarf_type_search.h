/* SPDX-License-Identifier: GPL-2.0 */
/* Types by name: in a block, in a unit, or in all units. */
#ifndef TRCUST_DWARF_TYPE_SEARCH_H
#define TRCUST_DWARF_TYPE_SEARCH_H

#include "dwarf_type.h"

struct type_search {
	const char *tag;	/* NULL: any */
	const char *name;	/* as given, without leading "::" */
	bool absolute;		/* it had one */
	Dwarf_Die *found;	/* two of them */
	int code;		/* -ENOENT, 0, or -ENOTUNIQ */
	bool is_declared;	/* though not defined */
};

/* Only types directly in the entry; true: it has one of the name. */
bool dwarf_type_search_block(struct type_search *search, Dwarf_Die *block);
/* In the unit, or with NULL in all: search->code. */
int dwarf_type_search_unit(struct type_search *search,
			   struct dwarf_file *dwarf, Dwarf_Die *unit);

#endif

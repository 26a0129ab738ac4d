/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that were inlined at an address (DWARF 5, 3.3.8), as libdw reads them.
 * Units are gone through for their functions when one of their addresses is first
 * asked about.
 */
#ifndef DEBUG_SYMBOL_INLINED_H
#define DEBUG_SYMBOL_INLINED_H

#include "lib/debug/lines/lines.h"
#include "lib/key_map.h"
#include "symbol_names.h"

#if SYMBOL_LIBRARY

struct symbol_scopes {
	const struct symbol_library *library;
	struct dwarf_bytes lists;	/* .debug_rnglists */
	struct key_map units;		/* struct symbol_unit, by address of the
					 * entry */
};

#define SYMBOL_INLINED_MOST	64	/* inlined into each other */

/* dwarf_ranges() of an entry, and none where libdw would read outside of the
 * lists */
ptrdiff_t symbol_scope_range(const struct symbol_scopes *scopes, Dwarf_Die *die,
			     ptrdiff_t at, Dwarf_Addr *base, Dwarf_Addr *start,
			     Dwarf_Addr *end);
/* The copies of functions around the address in the unit, the outermost first; how
 * many there are. *failed is set when there is no memory. */
size_t symbol_inlined_find(struct symbol_scopes *scopes, Dwarf_Die *unit,
			   uint64_t address,
			   Dwarf_Die copies[SYMBOL_INLINED_MOST], bool *failed);
/* The function's name, for the linker if it has one; NULL: none. */
const char *symbol_inlined_name(const struct symbol_scopes *scopes,
				Dwarf_Die *copy);
void symbol_scopes_free(struct symbol_scopes *scopes);

#endif
#endif

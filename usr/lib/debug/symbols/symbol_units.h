/* SPDX-License-Identifier: GPL-2.0 */
/* The unit of the debug information that covers an address */
#ifndef DEBUG_SYMBOL_UNITS_H
#define DEBUG_SYMBOL_UNITS_H

#include "lib/debug/lines/dwarf_program.h"
#include "lib/debug/lines/unit_ranges.h"
#include "symbol_library.h"

struct symbol_units {
	struct dwarf_bytes lists;	/* .debug_rnglists: to be set */
	struct unit_ranges ranges;	/* addresses of Dwarf_Die */
};

/* Read the ranges of all units whose start is_code() accepts. false: no memory,
 * some are missing. */
bool symbol_units_read(struct symbol_units *units,
		       const struct symbol_library *library,
		       Dwfl_Module *module,
		       bool (*is_code)(const void *context, uint64_t address),
		       const void *context);
/* dwarf_ranges() of a unit, and none where libdw would read outside of the
 * lists. */
ptrdiff_t symbol_units_range(const struct symbol_units *units,
			     const struct symbol_library *library,
			     Dwarf_Die *unit, ptrdiff_t at,
			     Dwarf_Addr *base, Dwarf_Addr *start,
			     Dwarf_Addr *end);
/* NULL: none. */
Dwarf_Die *symbol_units_find(const struct symbol_units *units,
			     uint64_t address);

#endif

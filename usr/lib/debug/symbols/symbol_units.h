/* SPDX-License-Identifier: GPL-2.0 */
/* Which unit of the debug information has an address, by what each says itself:
 * libdw asks .debug_aranges, which is optional (clang leaves it out). */
#ifndef TRACEFMT_SYMBOL_UNITS_H
#define TRACEFMT_SYMBOL_UNITS_H

#include "lib/debug/lines/dwarf_program.h"
#include "symbol_library.h"

struct symbol_units {
	struct dwarf_bytes lists;	/* .debug_rnglists: to be set */
	struct symbol_range {
		uint64_t start, end;
		struct dwarf_entry *unit;
	} *ranges;			/* by start; they don't overlap */
	size_t count, room;
};

/* All units of a module of libdw's. What isn't of code, by where it begins, is
 * left out. false: no memory, there are fewer. */
bool symbol_units_read(struct symbol_units *units,
		       const struct symbol_library *library,
		       struct dwfl_module *module,
		       bool (*is_code)(const void *context, uint64_t address),
		       const void *context);
/* dwarf_ranges() of a unit, but what would have libdw read outside of the lists
 * is none. */
ptrdiff_t symbol_units_range(const struct symbol_units *units,
			     const struct symbol_library *library,
			     struct dwarf_entry *unit, ptrdiff_t at,
			     Elf64_Addr *base, Elf64_Addr *start,
			     Elf64_Addr *end);
/* NULL: none. */
struct dwarf_entry *symbol_units_find(const struct symbol_units *units,
				      uint64_t address);
void symbol_units_free(struct symbol_units *units);

#endif

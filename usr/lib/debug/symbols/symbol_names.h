/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file's symbols by address. libdw searches all of them for each address
 * (dwfl_module_addrinfo()) and takes the first of nested ones.
 */
#ifndef DEBUG_SYMBOL_NAMES_H
#define DEBUG_SYMBOL_NAMES_H

#include "symbol_library.h"

/* A symbol with a size covers its addresses; a label, which has none, those up to
 * the next label, within its section. Earlier kinds are preferred. */
enum symbol_kind {
	SYMBOL_GLOBAL, SYMBOL_LOCAL, SYMBOL_GLOBAL_LABEL, SYMBOL_LOCAL_LABEL,
	SYMBOL_KINDS
};

struct symbol_names {
	struct symbol_range_names {
		struct symbol_name {
			Dwarf_Addr start, end;
			uint64_t reach;		/* highest end up to here */
			const char *name;
			uint8_t binding;	/* the highest is preferred */
			uint32_t order;		/* and of the same binding, too */
		} *items;		/* by start, of the same the best last */
		size_t count, room;
	} kinds[SYMBOL_KINDS];
};

/* Read all symbols; names stay as long as the module. false: no memory. */
bool symbol_names_read(struct symbol_names *names,
		       const struct symbol_library *library,
		       Dwfl_Module *module);
/* The symbol that covers the address, as libdw counts it, and the offset from its
 * start; NULL: none. */
const char *symbol_names_find(const struct symbol_names *names,
			      uint64_t address, uint64_t *offset);
void symbol_names_free(struct symbol_names *names);

#endif

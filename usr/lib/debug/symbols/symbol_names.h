/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file's symbols by address. libdw looks through all of them for each address
 * (dwfl_module_addrinfo()), and of nested ones takes what stands first.
 */
#ifndef TRACEFMT_SYMBOL_NAMES_H
#define TRACEFMT_SYMBOL_NAMES_H

#include "symbol_library.h"

/* Those that have a size are of the addresses that they say; else one is up to the
 * next one, within its section. The earlier kinds are better. */
enum symbol_kind {
	SYMBOL_GLOBAL, SYMBOL_LOCAL, SYMBOL_GLOBAL_LABEL, SYMBOL_LOCAL_LABEL,
	SYMBOL_KINDS
};

struct symbol_names {
	struct symbol_range_names {
		struct symbol_name {
			Elf64_Addr start, end;
			uint64_t reach;		/* highest end up to here */
			const char *name;
			uint8_t binding;	/* the higher, the better, as */
			uint32_t order;		/* where that is the same */
		} *items;		/* by start, of the same the best last */
		size_t count, room;
	} kinds[SYMBOL_KINDS];
};

/* All of a module of libdw's; names stay as long as it does. false: no memory. */
bool symbol_names_read(struct symbol_names *names,
		       const struct symbol_library *library,
		       struct dwfl_module *module);
/* The symbol that has the address, as libdw counts it, and how far behind its
 * start that is; NULL: none. */
const char *symbol_names_find(const struct symbol_names *names,
			      uint64_t address, uint64_t *offset);
void symbol_names_free(struct symbol_names *names);

#endif

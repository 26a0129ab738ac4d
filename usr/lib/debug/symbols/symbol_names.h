/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libdw and what it has of libelf, loaded when an address is to be named; and a
 * file's symbols by address, of which libdw searches all for each address
 * (dwfl_module_addrinfo()) and takes the first of nested ones. libdw's headers
 * are needed to build that in; without them names are module and offset.
 */
#ifndef DEBUG_SYMBOL_NAMES_H
#define DEBUG_SYMBOL_NAMES_H

#if __has_include(<elfutils/libdwfl.h>)
#define SYMBOL_LIBRARY	1

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#define SYMBOL_LIBRARY_FUNCTIONS(X)			\
	X(dwfl_begin)					\
	X(dwfl_end)					\
	X(dwfl_report_offline)				\
	X(dwfl_report_end)				\
	X(dwfl_module_info)				\
	X(dwfl_module_getelf)				\
	X(dwfl_module_getsymtab)			\
	X(dwfl_module_getsymtab_first_global)		\
	X(dwfl_module_getsym_info)			\
	X(dwfl_module_getdwarf)				\
	X(dwfl_module_addrdie)				\
	X(dwfl_module_nextcu)				\
	X(dwarf_child)					\
	X(dwarf_siblingof)				\
	X(dwarf_tag)					\
	X(dwarf_ranges)					\
	X(dwarf_diecu)					\
	X(dwarf_attr)					\
	X(dwarf_attr_integrate)				\
	X(dwarf_formudata)				\
	X(dwarf_formstring)				\
	X(dwarf_getelf)					\
	X(elf_getshdrstrndx)				\
	X(elf_getscn)					\
	X(elf_nextscn)					\
	X(gelf_getshdr)					\
	X(elf_rawdata)					\
	X(elf_strptr)

struct symbol_library {
#define SYMBOL_LIBRARY_MEMBER(name)	typeof(&name) name;
	SYMBOL_LIBRARY_FUNCTIONS(SYMBOL_LIBRARY_MEMBER)
#undef SYMBOL_LIBRARY_MEMBER
};

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

#else
#define SYMBOL_LIBRARY	0
#endif

#endif

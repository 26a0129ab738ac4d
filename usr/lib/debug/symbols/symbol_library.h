/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libdw and what it has of libelf, and libstdc++'s demangler, loaded when an
 * address is to be named. libdw's headers are needed to build that in; without
 * them names are module and offset.
 */
#ifndef DEBUG_SYMBOL_LIBRARY_H
#define DEBUG_SYMBOL_LIBRARY_H

#if __has_include(<elfutils/libdwfl.h>)
#define SYMBOL_LIBRARY	1

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdbool.h>

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
	X(dwarf_ranges)					\
	X(dwarf_diecu)					\
	X(dwarf_attr)					\
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

#else
#define SYMBOL_LIBRARY	0
#endif

#endif

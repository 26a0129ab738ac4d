// SPDX-License-Identifier: GPL-2.0
#include "symbol_library.h"

#include <string.h>
#include "lib/library.h"

#define LIBDW		"libdw.so.1"
#define LIBCXX		"libstdc++.so.6"

bool symbol_library_load(struct symbol_library *library)
{
	const struct {
		const char *name;
		void *function;
	} wanted[] = {
		{ "dwfl_begin", &library->begin },
		{ "dwfl_end", &library->end },
		{ "dwfl_report_offline", &library->report },
		{ "dwfl_report_end", &library->report_end },
		{ "dwfl_module_info", &library->info },
		{ "dwfl_module_getelf", &library->elf },
		{ "dwfl_module_getsymtab", &library->symbols },
		{ "dwfl_module_getsymtab_first_global",
		  &library->symbols_global },
		{ "dwfl_module_getsym_info", &library->symbol },
		{ "dwfl_module_getdwarf", &library->dwarf },
		{ "dwfl_module_addrdie", &library->unit },
		{ "dwfl_module_nextcu", &library->unit_next },
		{ "dwarf_ranges", &library->ranges },
		{ "dwarf_diecu", &library->unit_sizes },
		{ "dwarf_attr", &library->attribute },
		{ "dwarf_formudata", &library->attribute_number },
		{ "dwarf_formstring", &library->attribute_string },
		{ "dwarf_getelf", &library->dwarf_elf },
		{ "elf_getshdrstrndx", &library->section_names },
		{ "elf_getscn", &library->section },
		{ "elf_nextscn", &library->section_next },
		{ "gelf_getshdr", &library->section_header },
		{ "elf_rawdata", &library->section_data },
		{ "elf_strptr", &library->string },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		void *function = library_symbol(LIBDW, wanted[i].name);

		if (!function)
			return false;
		memcpy(wanted[i].function, &function, sizeof(function));
	}
	library->demangle = library_symbol(LIBCXX, "__cxa_demangle");
	return true;
}

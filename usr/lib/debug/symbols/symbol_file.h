/* SPDX-License-Identifier: GPL-2.0 */
/* The ELF file of a mapping, with what libdw finds in it and in its debug file. */
#ifndef DEBUG_SYMBOL_FILE_H
#define DEBUG_SYMBOL_FILE_H

#include <stdint.h>
#include "symbol_search.h"

/* A function that was inlined at an address. */
struct symbols_inlined {
	const char *name;	/* demangled; NULL: not known */
	const char *file;	/* where the function around it calls it; NULL:
				 * not known */
	unsigned int line;
};

/* Symbol, source line and module of an address. */
struct symbols_place {
	const char *symbol;	/* demangled; NULL: not known */
	uint64_t offset;	/* from it */
	const char *file;	/* of the source; NULL: not known */
	unsigned int line;
	const struct symbols_inlined *inlined;	/* the innermost first: the
						 * line is its */
	size_t inlined_count;
	const char *module;	/* base name of the file; NULL: the address is
				 * not mapped */
	uint64_t module_offset;
};

struct symbol_file;

/* "ns::work(int)" of "_ZN2ns4workEi", to be freed; NULL: the name is not
 * mangled, or there is no libstdc++ or no memory. */
char *symbol_demangle(const char *name);

/* NULL: there is no file, or no libdw; or no memory, and *failed is set. */
struct symbol_file *symbol_file_open(const struct symbols_settings *settings,
				     const struct ras_mapping *mapping,
				     bool *failed);
/* Symbol and line of the address `distance` bytes past the mapping's start;
 * strings stay until the file is closed. */
void symbol_file_find(struct symbol_file *file,
		      const struct ras_mapping *mapping, uint64_t distance,
		      struct symbols_place *place);
void symbol_file_close(struct symbol_file *file);

#endif

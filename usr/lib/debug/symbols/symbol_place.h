/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DEBUG_SYMBOL_PLACE_H
#define DEBUG_SYMBOL_PLACE_H

#include <stdint.h>

/* Symbol, source line and module of an address. */
struct symbols_place {
	const char *symbol;	/* demangled; NULL: not known */
	uint64_t offset;	/* from it */
	const char *file;	/* of the source; NULL: not known */
	unsigned int line;
	const char *module;	/* base name of the file; NULL: the address is
				 * not mapped */
	uint64_t module_offset;
};

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Symbols by their names. */
#ifndef LIB_MODULE_SYMBOL_FIND_H
#define LIB_MODULE_SYMBOL_FIND_H

#include "module_elf.h"

enum module_want { MODULE_CODE, MODULE_DATA };

/*
 * The symbol that the name means: defined rather than not, of the wanted kind,
 * global rather than local. Where no symbol has just this name, one of C++:
 * plain, qualified, with parameters ("fn", "ns::fn", "fn(int)");
 * "file.c:name" is the local one of that file. NULL: none. *others: there are
 * more, elsewhere, with no reason to prefer one.
 */
const struct module_symbol *
module_symbol_find(const struct module *module, const char *name,
		   enum module_want want, bool *others);
/* Those that the name means, "fn(int) at 0x1139, fn(char) at 0x1148", as far
 * as they go into text. */
void module_symbol_candidates(const struct module *module, const char *name,
			      enum module_want want, char *text, size_t size);
/* "ns::fn(int)" or "file.c:name" of a symbol, malloc'd; NULL: no memory. */
char *module_symbol_full_name(const struct module *module,
			      const struct module_symbol *symbol);

/* Symbols whose names are of C++, by their numbers; empty without memory. */
const struct demangle_index *
module_symbol_full_names(const struct module *module);

#endif

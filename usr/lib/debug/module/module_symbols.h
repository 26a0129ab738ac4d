/* SPDX-License-Identifier: GPL-2.0 */
/* The symbols of a file become those of the module; its functions, and its
 * symbols by address. */
#ifndef LIB_MODULE_SYMBOLS_H
#define LIB_MODULE_SYMBOLS_H

#include "module_elf.h"

/* Add the symbols of the module's file, or of a debug file. */
int module_load_symbols(struct module *module, Elf *elf, uint64_t file_size);

/* Fill module->functions from symbols and .eh_frame. */
int module_load_functions(struct module *module);
/* The function around address; NULL: none is known. */
const struct module_range *
module_function_find(const struct module *module, uint64_t address);

/* From addresses of code to the symbols there. */
struct symbol_index {
	const struct module_symbol **symbols;	/* by address */
	size_t count;
	const struct module_symbol **by_name;	/* made when first needed */
};

/* Of the symbols that the module has now. 0 or -ENOMEM. */
int symbol_index_make(struct symbol_index *index, const struct module *module);
void symbol_index_free(struct symbol_index *index);

/* The best name for the address: of what begins there or is around it, else
 * the nearest one before it. NULL: none. */
const struct module_symbol *
symbol_index_find(const struct symbol_index *index, uint64_t address);
/* No other symbol of code, elsewhere, has this one's name. */
bool symbol_index_is_unique(struct symbol_index *index,
			    const struct module_symbol *symbol);
/* The symbol has the address in it. */
bool symbol_has(const struct module_symbol *symbol, uint64_t address);

#endif

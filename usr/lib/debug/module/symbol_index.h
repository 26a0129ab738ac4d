/* SPDX-License-Identifier: GPL-2.0 */
/* From addresses of code to the symbols there. */
#ifndef TRCUST_SYMBOL_INDEX_H
#define TRCUST_SYMBOL_INDEX_H

#include "module_elf.h"

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

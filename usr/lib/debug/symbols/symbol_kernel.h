/* SPDX-License-Identifier: GPL-2.0 */
/* Symbols of the running kernel and its modules, for traces of the same one
 * (the same build-ids; it may have been started again since). */
#ifndef DEBUG_SYMBOL_KERNEL_H
#define DEBUG_SYMBOL_KERNEL_H

#include <rastrace/rasfile.h>
#include "symbol_place.h"

struct symbol_kernel;

/* NULL: /proc/kallsyms can't be read, or no memory. */
struct symbol_kernel *symbol_kernel_open(void);
/* The address of the mapping's code now; 0: it isn't there. */
uint64_t symbol_kernel_base(const struct symbol_kernel *kernel,
			    const struct ras_mapping *mapping);
/* The symbol of an address as it is now; strings stay until the kernel's
 * symbols are closed. */
void symbol_kernel_find(const struct symbol_kernel *kernel, uint64_t address,
			struct symbols_place *place);
void symbol_kernel_close(struct symbol_kernel *kernel);

#endif

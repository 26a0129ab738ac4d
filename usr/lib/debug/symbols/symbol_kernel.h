/* SPDX-License-Identifier: GPL-2.0 */
/* Symbols of the running kernel and its modules, for traces of the same one
 * (the same build-ids; it may have been started again since). */
#ifndef TRACEFMT_SYMBOL_KERNEL_H
#define TRACEFMT_SYMBOL_KERNEL_H

#include "lib/read/read.h"

struct symbol_kernel;

/* NULL: the kernel doesn't tell, or no memory. */
struct symbol_kernel *symbol_kernel_open(void);
/* Where the mapping's code lies now; 0: it isn't there. */
uint64_t symbol_kernel_base(const struct symbol_kernel *kernel,
			    const struct ras_mapping *mapping);
/* The symbol of an address as it is now; strings stay until the kernel's
 * symbols are closed. */
void symbol_kernel_find(const struct symbol_kernel *kernel, uint64_t address,
			struct symbols_place *place);
void symbol_kernel_close(struct symbol_kernel *kernel);

#endif

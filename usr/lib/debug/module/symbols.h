/* SPDX-License-Identifier: GPL-2.0 */
/* The symbols of a file become those of the module. */
#ifndef LIB_MODULE_SYMBOLS_H
#define LIB_MODULE_SYMBOLS_H

#include "module_elf.h"

/* Add the symbols of the module's file, or of a debug file. */
int module_load_symbols(struct module *module, Elf *elf, uint64_t file_size);

#endif

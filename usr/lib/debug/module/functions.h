/* SPDX-License-Identifier: GPL-2.0 */
/* Where the functions of the module are. */
#ifndef LIB_MODULE_FUNCTIONS_H
#define LIB_MODULE_FUNCTIONS_H

#include "module_elf.h"

/* Fill module->functions from symbols and .eh_frame. */
int module_load_functions(struct module *module);
/* The function around address; NULL: none is known. */
const struct module_range *
module_function_find(const struct module *module, uint64_t address);

#endif

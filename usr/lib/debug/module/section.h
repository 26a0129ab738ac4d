/* SPDX-License-Identifier: GPL-2.0 */
/* Sections that the kernel relocates for itself. */
#ifndef LIB_MODULE_SECTION_H
#define LIB_MODULE_SECTION_H

#include "module_elf.h"

struct module_section {
	const char *name;	/* PERCPU: a symbol at its address, "" none */
	uint64_t address, size;
	bool percpu;
	bool init;		/* gone once the module runs */
};

/* The section around the address that the kernel relocates for itself. False:
 * none, it moves with the code. */
bool module_section_find(const struct module *module, uint64_t address,
			 struct module_section *section);

#endif

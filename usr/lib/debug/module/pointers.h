/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words of the module's data that may be addresses of code: all tables of
 * labels are among them.
 */
#ifndef TRCUST_POINTERS_H
#define TRCUST_POINTERS_H

#include "module_elf.h"

struct pointer {
	uint64_t value;
	uint64_t at;		/* address of the word */
};

struct pointers {
	struct pointer *list;	/* ascending by value */
	size_t count, room;
	bool complete;		/* none is missing */
};

/* They are looked for once. NULL: no memory. */
const struct pointers *pointers_get(struct module *module);
void pointers_forget(struct module *module);

/* The bytes of the file that are loaded at address; NULL: none. */
const uint8_t *pointers_bytes(const struct module *module, uint64_t address,
			      size_t *available);

#endif

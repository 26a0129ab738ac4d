/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of the kernel's symbols, many with one reading of /proc/kallsyms. */
#ifndef TRACE_KALLSYMS_H
#define TRACE_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

struct kallsyms_symbol {
	char *name;
	uint64_t address;	/* of the first */
	unsigned int count;	/* symbols of this name; 0: there is none */
};

struct kallsyms {
	const char *module;	/* of which the symbols are; "" the kernel */
	void *tree;
	bool failed;		/* no memory */
	bool hidden;		/* the addresses aren't shown to us */
};

/* Ask for a name; the text is copied. */
void kallsyms_add(struct kallsyms *kallsyms, const char *name);
/* Find all that was asked for. 0 or a negative errno with err set. */
int kallsyms_read(struct kallsyms *kallsyms, struct error *err);
/* One of those; NULL: there is none, or it is hidden. */
const struct kallsyms_symbol *kallsyms_find(const struct kallsyms *kallsyms,
					    const char *name);
void kallsyms_free(struct kallsyms *kallsyms);
/* Sets the error that the kernel doesn't show its addresses. */
int kallsyms_hidden_error(struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What calls and jumps lead to, found by decoding all of the module's code:
 * addresses in the middle of functions that other code jumps to (parts of a
 * function of which nothing says that they are), and whether a function is called.
 */
#ifndef TRCUST_TARGETS_H
#define TRCUST_TARGETS_H

#include "module_elf.h"

struct targets {
	uint64_t *addresses;	/* ascending */
	size_t count, room;
	bool known;		/* they were looked for */
};

/* 0 or -ENOMEM. */
int targets_find(struct targets *targets, const struct module *module);
/* Does code elsewhere call the function, or jump to where it begins? What goes
 * through a register or memory isn't seen. */
bool targets_lead_to(const struct module *module,
		     const struct module_range *function);
void targets_free(struct targets *targets);

#endif

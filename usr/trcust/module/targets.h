/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses in the middle of functions that other code jumps to: parts of a
 * function of which nothing says that they are. Found by decoding all of the
 * module's code.
 */
#ifndef TRCUST_TARGETS_H
#define TRCUST_TARGETS_H

#include "module.h"

struct targets {
	uint64_t *addresses;	/* ascending */
	size_t count, room;
	bool known;		/* they were looked for */
};

/* 0 or -ENOMEM. */
int targets_find(struct targets *targets, const struct module *module);
void targets_free(struct targets *targets);

#endif

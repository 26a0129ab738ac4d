/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_MOVE_RPN_H
#define TRCUST_MOVE_RPN_H

#include "move_value.h"

/*
 * Appends the expression, which leaves one value, or two (`far`), for the site;
 * of the last the low `need` bytes are wanted. *entry: what that is, which may
 * be missing. 0, 1, -ENOMEM as move_stmt().
 */
int move_rpn(const struct move *move, const uint8_t *bytes, size_t size,
	     bool far, unsigned int need, struct bytes *rpn,
	     struct move_entry *entry);

#endif

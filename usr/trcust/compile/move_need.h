/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many low bytes of each value in an expression matter to what it comes
 * to: of an int in a 64-bit register four do.
 */
#ifndef TRCUST_MOVE_NEED_H
#define TRCUST_MOVE_NEED_H

#include "lib/formats/rpn.h"

struct move_need {
	struct rpn_op op;
	unsigned int need;	/* of what the operation pushes: 1 to 8 */
	/* on the way */
	uint32_t arguments[2];	/* the operations whose values it takes */
	unsigned int count;
};

/*
 * The operations of an expression that rpn_check() finds good, malloc'd; NULL:
 * no memory. `need`: of what it leaves on top. `width`: bytes of an address.
 */
struct move_need *move_need_find(const uint8_t *rpn, size_t size,
				 unsigned int need, unsigned int width,
				 size_t *count, size_t *jumps);

#endif

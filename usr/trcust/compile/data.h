/* SPDX-License-Identifier: GPL-2.0 */
/* REGS, MEM, ASCIIZ (manual 1.3.5.8 to 1.3.5.14) and STACK. */
#ifndef TRCUST_DATA_H
#define TRCUST_DATA_H

#include "emit.h"

/* Appends the statements; fills s->item. Returns COMPILE_LEAVE_OUT as well. */
int data_compile(const struct site_stmt *s);
/* The expression of a stack's statement: where the caller's frame is, if that is
 * known. 0, or 1 after a message. */
int data_frame_emit(const struct site_stmt *s, struct srcpos pos,
		    struct tdf_stmt *out);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* FMT, and the format of a tracepoint without one. */
#ifndef TRCUST_FORMAT_CHECK_H
#define TRCUST_FORMAT_CHECK_H

#include "compile.h"

/*
 * The format of a tracepoint without FMT: a line for each item, those of one
 * REGS together, by their types.
 *
 *	EAX=%{x32} EBX=%{x32}
 *	r->len = %P%{unsigned int}
 *	name = %P%S
 *
 * To be freed; NULL: no memory.
 */
char *format_default(const struct ctypes *types, struct compile_point *point);

/* Warns of controls in the FMTs of a tracepoint that can't match what its data
 * statements log, and of C types that don't exist. Types that the FMTs name are
 * added to ctypes. */
void format_check(const struct compilation *c, struct ctypes *ctypes,
		  struct compile_point *point);

#endif

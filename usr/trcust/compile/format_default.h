/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_FORMAT_DEFAULT_H
#define TRCUST_FORMAT_DEFAULT_H

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
char *format_default(const struct ctypes *types,
		     const struct compile_point *point);

#endif

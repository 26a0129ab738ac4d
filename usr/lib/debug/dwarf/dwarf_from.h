/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From where a name is looked up. Functions that were inlined into each other
 * may have code at the same address, which the line table has several lines
 * for: the address doesn't show which function is meant.
 */
#ifndef TRCUST_DWARF_FROM_H
#define TRCUST_DWARF_FROM_H

#include "dwarf_file.h"

struct dwarf_from {
	uint64_t pc;
	bool outermost;		/* in the function that was compiled for itself;
				 * else: */
	const void *function;	/* address of the entry of the function or copy
				 * around pc; NULL: in the innermost one */
	uint32_t line, file;	/* names declared after the line aren't
				 * meant; 0: not known */
};

#endif

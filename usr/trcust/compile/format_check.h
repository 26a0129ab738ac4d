/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_FORMAT_CHECK_H
#define TRCUST_FORMAT_CHECK_H

#include "compile.h"

/* Warns of controls in the FMTs of a tracepoint that can't match what its data
 * statements log, and of C types that don't exist. Types that the FMTs name are
 * added to ctypes. */
void format_check(const struct compilation *c, struct ctypes *ctypes,
		  struct compile_point *point);

#endif

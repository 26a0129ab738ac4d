/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_FORMAT_CHECK_H
#define TRCUST_FORMAT_CHECK_H

#include "compile.h"

/* Warn of controls in the FMTs of a tracepoint that can't match what its data
 * statements log, and of C types that nothing logged has. */
void format_check(struct compilation *c, struct compile_point *point);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_SLOW_H
#define TRCUST_SLOW_H

#include "compile.h"

/* The pass that warns of probes that stay on a slow instruction, or on a nop
 * that may do harm: why, and what would help. */
void slow_report(const struct compilation *c, const struct compiled *out);

#endif

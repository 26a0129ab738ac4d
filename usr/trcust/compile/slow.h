/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Warnings of probes that stay where a hit is dear: why, and what would make it
 * cheap.
 */
#ifndef TRCUST_SLOW_H
#define TRCUST_SLOW_H

#include "compile.h"

/* Of a tracepoint whose sites were chosen: one warning, or none when there were
 * enough of them. */
void slow_report(struct compilation *c, const struct compile_point *point);
/* Behind the last tracepoint: how many there were besides. */
void slow_report_rest(struct compilation *c);

#endif

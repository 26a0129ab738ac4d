/* SPDX-License-Identifier: GPL-2.0 */
/* BY, COUNT, SUM, MIN, MAX and HIST as statements of a TDF. */
#ifndef TRCUST_AGGREGATE_H
#define TRCUST_AGGREGATE_H

#include "compile.h"
#include "emit.h"

/* All of a tracepoint, at a site; 0, 1 after a message, or -1. */
int aggregates_compile(const struct site_stmt *s, const struct tsf_point *point);

#endif

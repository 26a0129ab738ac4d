/* SPDX-License-Identifier: GPL-2.0 */
/* Who calls whom on the way to an allocation. */
#ifndef HEAPMON_CALLGRAPH_H
#define HEAPMON_CALLGRAPH_H

#include "mprof_print.h"

/* mprof's ALLOCATION CALL GRAPH. 0 or -ENOMEM. */
int callgraph_print(const struct mprof *mprof);
/* Its graph file, in the language of dot(1): from START by all callers to ALLOC,
 * with what was allocated, or isn't freed, on the way. 0 or -ENOMEM. */
int callgraph_write(const struct mprof *mprof);

#endif

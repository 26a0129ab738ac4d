/* SPDX-License-Identifier: GPL-2.0 */
/* Who calls whom on the way to an allocation. */
#ifndef HEAPMON_CALLGRAPH_H
#define HEAPMON_CALLGRAPH_H

#include "mprof_print.h"

/* mprof's ALLOCATION CALL GRAPH. 0 or -ENOMEM. */
int callgraph_print(const struct mprof *mprof);

#endif

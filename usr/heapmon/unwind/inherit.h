/* SPDX-License-Identifier: GPL-2.0 */
/* A BPF program that gives a new process the tables of its parent before it runs:
 * the stacks of one that lives shortly are needed before anybody reads that it is
 * there. */
#ifndef HEAPMON_INHERIT_H
#define HEAPMON_INHERIT_H

#include "lib/error.h"

/* From now on, until the descriptor is closed; or a negative errno with err set.
 * `spaces`: the map (rastrace/unwind.h). */
int inherit_start(int spaces, struct error *err);

#endif

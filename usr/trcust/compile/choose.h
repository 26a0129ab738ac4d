/* SPDX-License-Identifier: GPL-2.0 */
/* The pass that puts each probe on the best instruction. */
#ifndef TRCUST_CHOOSE_H
#define TRCUST_CHOOSE_H

#include "compile.h"

#define CHOOSE_DISTANCE	64	/* instructions of a block, either way */

/*
 * All sites were compiled for their nominal addresses. Moves each to the
 * fastest instruction at which every value is provably the one of the nominal
 * address, with its statements as they are there; tracepoints are still hit in
 * the order of their nominal addresses. Where the probe stays on a slow
 * instruction, site->stays is the reason. 0, -1.
 */
int choose_sites(const struct compilation *c, struct compiled *out);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The instruction that a probe stands on: of those at which every value is
 * provably that of the nominal address, the cheapest.
 */
#ifndef TRCUST_CHOOSE_H
#define TRCUST_CHOOSE_H

#include "compile.h"

#define CHOOSE_DISTANCE	64	/* instructions of a block, either way */

/*
 * The sites of all tracepoints are compiled for their nominal addresses, in the
 * order of c->stmts. Move them to where a hit is cheaper, with their statements
 * as they are there; tracepoints come in the order of their nominal addresses
 * all the same. site->stays tells why a dear one stays. What people should know
 * of where probes stand is told. 0, -1.
 */
int choose_sites(struct compilation *c);
/* A probe on the instruction costs little and does no harm. A nop of 5 bytes may
 * do some: Linux turns it into a call from 6.18 on, which writes below the stack
 * pointer, where a leaf function may keep data, and leads a forked child to a
 * page that it hasn't got. */
bool choose_is_cheap(const struct compilation *c, const struct arch_insn *insn);

#endif

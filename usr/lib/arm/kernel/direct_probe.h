/* SPDX-License-Identifier: GPL-2.0 */
/* Can bodies read the memory of processes without a call (bpf/code/direct.h)? */
#ifndef TRACE_DIRECT_PROBE_H
#define TRACE_DIRECT_PROBE_H

#include "bpf/body.h"

/*
 * RAS_READS_DIRECT with *direct filled, or another RAS_READS_*, the reason why
 * not. It is proven by reading pages of our own, as bodies would, and by
 * counting what the kernel flushes when they change.
 */
int direct_probe(struct body_direct *direct, const struct body_layout *layout);

#endif

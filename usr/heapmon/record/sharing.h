/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes that begin in the memory of another one, as vfork and posix_spawn make
 * them (clone(2), CLONE_VM without CLONE_THREAD). A BPF program tells of them in
 * the rings, behind the PERF_RECORD_FORK and before the new one runs; the perf
 * events themselves don't say it.
 */
#ifndef HEAPMON_SHARING_H
#define HEAPMON_SHARING_H

#include <stdint.h>
#include "perf_ring.h"

/* What a PERF_RECORD_SAMPLE has, of the one that forks */
struct sharing_data {
	uint32_t child;		/* process id */
};

/* From now on until the descriptor is closed; or a negative errno with err set. */
int sharing_start(struct perf_rings *rings, struct error *err);

#endif

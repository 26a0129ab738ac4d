/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes that begin in the memory of another one, as vfork and posix_spawn make
 * them (clone(2), CLONE_VM without CLONE_THREAD), until they execute a program or
 * end. A BPF program reports them in the rings, after the PERF_RECORD_FORK and
 * before the new one runs; the perf events themselves don't show it.
 */
#ifndef HEAPMON_SHARING_H
#define HEAPMON_SHARING_H

#include <stdint.h>
#include "perf_ring.h"

/* What a PERF_RECORD_SAMPLE has, of the one that forks */
struct sharing_data {
	uint32_t child;		/* process id */
};

/* Links of programs; -1: none */
struct sharing {
	int fork, exec;
};

#define SHARING_NONE	((struct sharing){ -1, -1 })

/* The hash for bodies (bpf/body.h): process -> whose memory it works in. A
 * descriptor of the caller's, or a negative errno with err set. */
int sharing_owners_make(struct error *err);
/* From now on; `owners` is kept up to date, unless it is -1. 0, or a negative errno
 * with err set, after which there may be something to stop. */
int sharing_start(struct sharing *sharing, struct perf_rings *rings, int owners,
		  struct error *err);
void sharing_stop(struct sharing *sharing);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel reports of processes (perf_event_open(2)), and what a BPF program
 * adds (bpf_perf_event_output()): a ring per CPU. */
#ifndef HEAPMON_PERF_RING_H
#define HEAPMON_PERF_RING_H

#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>
#include "lib/error.h"
#include "lib/formats/bytes.h"

/* A record that was copied out of a ring */
struct perf_record {
	uint64_t time;		/* CLOCK_BOOTTIME, ns */
	size_t offset;		/* in bytes, of struct perf_event_header */
};

struct perf_rings {
	struct perf_ring *items;
	size_t count;
	int fd;			/* readable when one of them is */
	int map;		/* descriptor; -1 */
	int fork, exec;		/* links of programs; -1 */
	struct perf_record *records;	/* in the order of time */
	size_t record_count, record_room;
	struct bytes bytes;
};

#define PERF_RINGS_NONE	\
	((struct perf_rings){ .fd = -1, .map = -1, .fork = -1, .exec = -1 })

/* What a PERF_RECORD_SAMPLE has, of the one that forks */
struct sharing_data {
	uint32_t child;		/* process id */
};

int perf_rings_open(struct perf_rings *rings, struct error *err);
/*
 * From now on a BPF program reports processes that begin in the memory of another
 * one, as vfork and posix_spawn make them (clone(2), CLONE_VM without
 * CLONE_THREAD), until they execute a program or end: after the PERF_RECORD_FORK
 * and before the new one runs. The perf events themselves don't show it. `owners`
 * is kept up to date, unless it is -1. 0, or a negative errno with err set.
 */
int perf_rings_share(struct perf_rings *rings, int owners, struct error *err);
/* The hash for bodies (bpf/body.h): process -> whose memory it works in. A
 * descriptor of the caller's, or a negative errno with err set. */
int sharing_owners_make(struct error *err);
/* The records become all that was reported before the call, and what could be had
 * of the time since. */
int perf_rings_read(struct perf_rings *rings);
void perf_rings_close(struct perf_rings *rings);

#endif

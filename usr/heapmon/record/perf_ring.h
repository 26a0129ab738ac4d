/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel reports of processes (perf_event_open(2)), and what a BPF program
 * adds (bpf_perf_event_output()): a ring per CPU. */
#ifndef HEAPMON_PERF_RING_H
#define HEAPMON_PERF_RING_H

#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>
#include "lib/error.h"

struct perf_rings {
	struct perf_ring *items;
	size_t count;
	int fd;			/* readable when one of them is */
	int map;		/* descriptor; -1 */
};

/* Records copied out of the rings, in the order of time */
struct perf_record {
	uint64_t time;		/* CLOCK_BOOTTIME, ns */
	size_t offset;		/* in bytes, of struct perf_event_header */
};

struct perf_batch {
	struct perf_record *items;
	size_t count, room;
	uint8_t *bytes;
	size_t used, bytes_room;
};

int perf_rings_open(struct perf_rings *rings, struct error *err);
/* For BPF programs: the map of the rings by CPU, which is theirs; or a negative
 * errno. */
int perf_rings_map(struct perf_rings *rings);
/* All that was reported before the call, and what could be had of the time since. */
int perf_rings_read(struct perf_rings *rings, struct perf_batch *batch);
void perf_rings_close(struct perf_rings *rings);
void perf_batch_free(struct perf_batch *batch);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the recorded processes do that isn't a call of the allocator: fork, exec,
 * exit, new mappings. From the kernel's perf events (PERF_RECORD_FORK, COMM with
 * exec, EXIT, MMAP2), of all CPUs, and from a BPF program (perf_ring.h).
 */
#ifndef HEAPMON_TRACKER_H
#define HEAPMON_TRACKER_H

#include <stdbool.h>
#include <stdint.h>
#include <rastrace/heap.h>
#include "lib/error.h"

struct tracker;

enum tracker_kind {
	TRACKER_FORK,		/* pid, a child of parent */
	TRACKER_SHARE,		/* until its exec or its end pid works in the
				 * memory of parent; after its FORK */
	TRACKER_EXEC,
	TRACKER_EXIT,		/* of its last thread */
	TRACKER_MAP,		/* code was mapped: path is what */
	TRACKER_GROW,		/* memory without a file: address, size; brk, or
				 * mmap that may be written */
	TRACKER_LOST,		/* events were lost: look at /proc again */
};

struct tracker_event {
	enum tracker_kind kind;
	uint64_t time;		/* CLOCK_BOOTTIME, ns */
	uint32_t pid, parent;
	uint64_t address, size;
	bool brk;		/* GROW: the heap's */
	const char *path;	/* MAP */
};

/* From now on. `follow`: children of the processes, too; what maps or grows in
 * memory that several work in is reported of its owner, `owners` has whose
 * (perf_ring.h). */
int tracker_open(struct tracker **tracker, bool follow, int owners,
		 struct error *err);
/* These processes; others are passed over. */
int tracker_add(struct tracker *tracker, uint32_t pid);
/* For poll(2): readable when there is something; -1: none */
int tracker_fd(const struct tracker *tracker);
/* Call `take` for all that has happened, in the order of time. */
int tracker_read(struct tracker *tracker,
		 int (*take)(void *context, const struct tracker_event *event),
		 void *context);
/* Processes that are recorded and live. */
unsigned int tracker_live(const struct tracker *tracker);
void tracker_close(struct tracker *tracker);

#endif

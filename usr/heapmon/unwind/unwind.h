/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables that the BPF program unwinds by (rastrace/unwind.h): made of the
 * .eh_frame of what is mapped in the processes, put into the session's maps.
 */
#ifndef HEAPMON_UNWIND_H
#define HEAPMON_UNWIND_H

#include <stdbool.h>
#include <stdint.h>
#include <rastrace/unwind.h>
#include "lib/error.h"

struct unwind_state;

/* Room for so many rows; the maps are made: their descriptors are in fds (rows,
 * segments, spaces), owned by the unwind. 0, or a negative errno with err set. */
struct unwind_fds {
	int rows, segments, spaces, cache;
};

int unwind_open(struct unwind_state **unwind, uint32_t rows,
		struct unwind_fds *fds, struct error *err);
/* Make tables for all that is mapped executable in the process now, and give
 * them to the kernel: for the first time, or again. What had no room, or no
 * .eh_frame, is left to frame pointers and counted. 0, or a negative errno with
 * err set (-ESRCH: it is gone). */
int unwind_add_process(struct unwind_state *unwind, uint32_t pid,
		       struct error *err);
/* From now on a new process has its parent's from its first instruction on; that
 * of each is set by unwind_copy_process(). 0, or a negative errno with err set. */
int unwind_follow(struct unwind_state *unwind, struct error *err);
/* The same as another one, after a fork: quick, nothing is read. */
int unwind_copy_process(struct unwind_state *unwind, uint32_t parent,
			uint32_t child);
void unwind_drop_process(struct unwind_state *unwind, uint32_t pid);
void unwind_close(struct unwind_state *unwind);

struct unwind_figures {
	uint64_t rows, modules, without;	/* modules without a table */
	uint64_t left_out;			/* no room */
};

const struct unwind_figures *unwind_figures(const struct unwind_state *unwind);

#endif

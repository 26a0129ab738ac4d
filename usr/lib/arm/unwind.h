/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables that the BPF program unwinds by (rastrace/unwind.h): made of the
 * .eh_frame of what is mapped in the processes, put into the session's maps.
 */
#ifndef ARM_UNWIND_H
#define ARM_UNWIND_H

#include <stdbool.h>
#include <stdint.h>
#include <rastrace/unwind.h>
#include "lib/error.h"

struct unwind_state;

struct unwind_fds {
	int rows, segments, spaces, cache;
	int asks;			/* -1: the program does not ask */
};

#define UNWIND_FDS_NONE	((struct unwind_fds){ -1, -1, -1, -1, -1 })

/* The maps, with room for so many rows. 0, or a negative errno with err set. */
int unwind_maps_make(struct unwind_fds *fds, uint32_t rows, bool asks,
		     struct error *err);
void unwind_maps_close(struct unwind_fds *fds);

/* Fill the maps, of which no process has anything. They remain the caller's. 0, or a
 * negative errno with err set. */
int unwind_open(struct unwind_state **unwind, const struct unwind_fds *fds,
		struct error *err);
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
/* All that have ended */
void unwind_drop_ended(struct unwind_state *unwind);
void unwind_close(struct unwind_state *unwind);

struct unwind_figures {
	uint64_t rows, modules, without;	/* modules without a table */
	uint64_t left_out;			/* no room */
};

const struct unwind_figures *unwind_figures(const struct unwind_state *unwind);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* A set of processes that their children join. */
#ifndef TRACE_FOLLOW_H
#define TRACE_FOLLOW_H

#include "lib/error.h"
#include "lib/arm/pinned/run_dir.h"

/*
 * From now on a child of a process in the map `pids` is put there, and what
 * ends is taken out; by two links pinned in `dir`. 0, or a negative errno with
 * err set.
 */
int follow_start(int pids, const struct run_dir *run, const char *dir,
		 struct error *err);

#endif

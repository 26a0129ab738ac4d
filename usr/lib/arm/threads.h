/* SPDX-License-Identifier: GPL-2.0 */
/* The off-CPU time of threads, for the CPU time of calls. */
#ifndef TRACE_THREADS_H
#define TRACE_THREADS_H

#include <stdbool.h>
#include "lib/arm/pinned/run_dir.h"

/*
 * Make the map `threads` (rastrace/buffer.h), pinned in `dir`, and unless `dry` the
 * program at sched_switch that adds up. 0, or a negative errno with err set; *fd is
 * the caller's to close.
 */
int threads_make(int *fd, const struct run_dir *run, const char *dir, bool dry,
		 struct error *err);

#endif

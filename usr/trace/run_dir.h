/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The run directory: a bpffs of its own where everything armed is pinned.
 *
 *	RUN/buffer, nest, control, sessions	the trace buffer
 *	RUN/new/NAME/				being armed
 *	RUN/armed/NAME/				armed
 *	RUN/past/INDEX/				off: its counters
 *	RUN/gone/				being removed
 *	RUN/run_PID_START/			a private run directory of the
 *						`trace run` with that process id
 *						and start time
 *	RUN.lock				taken by whoever changes RUN
 */
#ifndef TRACE_RUN_DIR_H
#define TRACE_RUN_DIR_H

#include <limits.h>
#include <stdbool.h>
#include "../lib/error.h"

/* room for what is appended to the path of the run directory */
#define RUN_PATH_MAX	(PATH_MAX - 2 * NAME_MAX - 32)

struct run_dir {
	char path[RUN_PATH_MAX];
	int lock;		/* file descriptor, -1: none */
};

/*
 * Take the lock of the run directory and remove what a killed trace left
 * there. With `create` the bpffs is mounted when it isn't. 0, or a negative
 * errno with err set: -ENOENT when it isn't mounted.
 */
int run_dir_open(struct run_dir *run, bool create, struct error *err);
void run_dir_close(struct run_dir *run);

/* A directory of its own inside `run`, for this process. */
int run_dir_open_private(struct run_dir *private, const struct run_dir *run,
			 struct error *err);

/* Is there a bpffs that is the caller's or root's? 0 or as run_dir_open(). */
int run_dir_check(const char *path, struct error *err);

/* Make RUN/name; an existing one is fine. */
int run_dir_make(const struct run_dir *run, const char *name,
		 struct error *err);

#endif

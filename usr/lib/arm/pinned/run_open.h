/* SPDX-License-Identifier: GPL-2.0 */
/* Taking the run directory, to change what is in it. */
#ifndef ARM_RUN_OPEN_H
#define ARM_RUN_OPEN_H

#include "run_dir.h"

/*
 * Take the lock of the run directory and remove what a killed trace left
 * there. With `create` the bpffs is mounted when it isn't. 0, or a negative
 * errno with err set: -ENOENT when it isn't mounted.
 */
int run_dir_open(struct run_dir *run, bool create, struct error *err);
void run_dir_close(struct run_dir *run);

/* Is that the name of a private run directory whose process is gone? */
bool run_dir_is_left(const char *name);

#endif

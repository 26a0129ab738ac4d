/* SPDX-License-Identifier: GPL-2.0 */
/* Ending sessions: recording stops at once, the probes go, the figures stay. */
#ifndef TRACE_RETIRE_H
#define TRACE_RETIRE_H

#include <stdbool.h>
#include "lib/buffer/buffer.h"
#include "lib/buffer/session.h"
#include "run_dir.h"

/* Set the state word of a session's directory; 0 or a negative errno. */
int retire_state_set(const char *dir, uint32_t state, struct error *err);

/* Disarm an armed session. */
int retire_session(const struct run_dir *run, struct buffer *buffer,
		   const struct session *session, struct error *err);

/*
 * Take the points of an armed session off for which off[] is true and that are
 * armed: their links go, and the session log says RAS_POINT_* `state`. With
 * RAS_POINT_OFF, a session that has no armed point left is over.
 */
int retire_points(const struct run_dir *run, struct buffer *buffer,
		  const struct session *session, const bool *off,
		  uint16_t state, struct error *err);

/* Remove everything in the run directory, whatever made it. */
void retire_everything(struct run_dir *run);
/* The same where nothing is armed or waits: only a buffer is there, without a
 * record. */
void retire_unused(struct run_dir *run);

/* Taking the run directory, to change what is in it. */

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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the keeper does when tracepoints are hit: --snapshot-on and --run-on. It
 * looks at the counters of the points, so that a hit costs what it always does,
 * recording goes on, and nothing depends on the keeper.
 */
#ifndef TRACE_KEEP_REACT_H
#define TRACE_KEEP_REACT_H

#include "keep_task.h"
#include "lib/buffer/session.h"

#define REACT_MS	20	/* between two looks */

struct react;

/* NULL: the session has no such trigger, or it can't be followed. */
struct react *react_open(const struct session *session, const char *run,
			 uint32_t slices);
/* NULL is fine. */
void react_close(struct react *react);

/* Look at the counters, and begin what is to be done. What has been done is
 * written where query and wait find it, by and by. */
void react_look(struct react *react);

/* A child has ended; was it one of these? */
bool react_child_ended(struct react *react, pid_t child, int status);

#endif

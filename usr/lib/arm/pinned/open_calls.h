/* SPDX-License-Identifier: GPL-2.0 */
/* Whole calls that have not returned (rastrace/buffer.h, `open`) */
#ifndef TRACE_OPEN_CALLS_H
#define TRACE_OPEN_CALLS_H

#include "lib/buffer/session.h"

/* Does the session have whole calls? */
bool open_calls_any(const struct session *session);

/*
 * Those that can't return any more are counted as never returned, and give their
 * room back: their process has ended, or there is no memory where their frame
 * was. How many are left.
 */
size_t open_calls_sweep(const struct session *session, uint32_t cpus);

/* At the end of the session: the rest is counted for good, and goes. */
int open_calls_keep(const struct session *session, uint32_t cpus,
		    struct error *err);

/* The same of the points that have ended. `detach` removes the probes of their exits,
 * then those of their entries: what these count meanwhile isn't counted. */
void open_calls_end(const struct session *session, uint32_t cpus,
		    const struct ras_session_point *ended,
		    void (*detach)(void *context, bool exits), void *context);

#endif

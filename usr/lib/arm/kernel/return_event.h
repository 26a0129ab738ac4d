/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events for the returns of kernel functions, of which many calls can be under way.
 * The kernel's other way to a return probe has room for 10 calls, or twice as many
 * as there are CPUs; what comes on top of these is missed.
 */
#ifndef ARM_RETURN_EVENT_H
#define ARM_RETURN_EVENT_H

#include <stdint.h>

/* The perf event, to be closed; a negative errno: there is none. symbol: as kprobes
 * have it, [MODULE:]NAME; owner: the inode of the session's directory, whatever its
 * path will be */
int return_event_make(const char *symbol, uint64_t owner);

/* Remove those that are no longer in use. Those of the owner were in use just now,
 * and are waited for; 0: none are. */
void return_events_sweep(uint64_t owner);

#endif

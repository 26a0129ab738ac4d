/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events for the returns of kernel functions, of which many calls can be under way.
 * The kernel's other way to a return probe has room for 10 calls, or twice as many
 * as there are CPUs; what comes on top of these is missed.
 */
#ifndef ARM_RETURN_EVENT_H
#define ARM_RETURN_EVENT_H

#include <stdbool.h>

/* The perf event, to be closed; a negative errno: there is none. symbol: as kprobes
 * have it, [MODULE:]NAME */
int return_event_make(const char *symbol);

/* Remove those that are no longer in use. wait: some were in use just now. */
void return_events_sweep(bool wait);

#endif

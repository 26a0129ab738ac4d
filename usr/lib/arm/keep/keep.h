/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happens to armed points without a command: points that have reached their
 * MAXHITS lose their links, the slowest ones do above --max-cpu, and TDFs that
 * wait for a kernel module are armed when it is loaded. One process for each
 * run directory does it, the keeper: `trace keep`. Commands start it when there
 * is something to do, and it ends when there isn't. Tracing doesn't depend on it.
 *
 *	RUN/keep/	its process holds a lock on it
 *	RUN/wait/N	a symbolic link to a request's text: a TDF that waits
 *	RUN/wait/N_why	a symbolic link to the text why it was refused when
 *			the module was loaded
 */
#ifndef TRACE_KEEP_H
#define TRACE_KEEP_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/buffer/buffer.h"
#include "keep_request.h"

/*
 * Start a keeper if there is something to do for it and none runs. Every command
 * that changes something calls this before it gives up the lock of `run`. A
 * failure, in err, is no reason for the command to fail: tracing goes on.
 */
int keep_start(const struct run_dir *run, struct error *err);

/* Is there something to do for one? */
bool keep_is_needed(const char *run);

/* --max-cpu: a ceiling for all points, in per cent of one CPU's time; 0 takes
 * it away. */
void keep_max_cpu_set(const struct buffer *buffer, unsigned int percent);

/* For query: no lock is needed. */
struct keep_state {
	int pid;			/* of the keeper; 0: there is none;
					 * -1: one that can't be seen */
	bool needed;			/* there is something to do for it */
	struct keep_request *requests;	/* that wait */
	size_t count;
};

int keep_state_read(struct keep_state *state, const char *run,
		    struct error *err);
void keep_state_free(struct keep_state *state);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happens to armed points without anybody asking: points that have their
 * MAXHITS lose their links, the dearest ones do above --max-cpu, and TDFs that
 * wait for a kernel module are armed when it is loaded. One process for each
 * run directory does it, the keeper: `trace keep`, started when there is
 * something to do, gone when there isn't. Tracing doesn't depend on it.
 *
 *	RUN/keep/	its process holds a lock on it
 *	RUN/wait/N	a symbolic link to a request's text: a TDF that waits
 *	RUN/wait/N_why	likewise, why it was refused when the module came
 */
#ifndef TRACE_KEEP_H
#define TRACE_KEEP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include "lib/buffer/buffer.h"
#include "lib/formats/tdf.h"
#include "lib/arm/kernel/kernel.h"
#include "lib/arm/pinned/run_dir.h"

/*
 * See to it that a keeper runs if there is something to do for it. For every
 * command that changes something, before it gives up the lock of `run`. What
 * fails is in err, and no reason to fail: tracing goes on.
 */
int keep_start(const struct run_dir *run, struct error *err);

/* Is there something to do for one? */
bool keep_is_needed(const char *run);

/* --max-cpu: a ceiling for all points, in per cent of one CPU's time; 0 takes
 * it away. */
void keep_max_cpu_set(const struct buffer *buffer, unsigned int percent);

/* The first kernel module of the TDF that isn't loaded, into `name`. */
bool keep_module_absent(const struct tdf *tdf, char name[KERNEL_MODULE_NAME]);

struct keep_request {
	unsigned int number;
	char tdf[PATH_MAX];		/* absolute */
	char module[KERNEL_MODULE_NAME];
	char *refused;			/* why, when the module came; or NULL */
	char *cwd, **argv;		/* of `trace on`, ends with NULL */
};

/*
 * Keep the request to arm `tdf` (absolute path) when `module` is loaded: by
 * `trace on` with these arguments (options, then the target), in the current
 * directory. One for the same TDF and arguments is replaced.
 */
int keep_wait(const struct run_dir *run, const char *tdf, const char *module,
	      char *const *argv, struct error *err);
/* Give up the requests of this TDF, its path or "app" for any app.tdf; how many
 * there were. */
unsigned int keep_forget(const struct run_dir *run, const char *name);

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

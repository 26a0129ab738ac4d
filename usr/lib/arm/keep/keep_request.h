/* SPDX-License-Identifier: GPL-2.0 */
/* The TDFs that wait for a kernel module, as RUN/wait has them (keep.h). */
#ifndef TRACE_KEEP_REQUEST_H
#define TRACE_KEEP_REQUEST_H

#include <stdio.h>
#include "lib/arm/kernel/kernel.h"
#include "lib/arm/pinned/run_dir.h"

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

/* All that can be read, by number. 0 or -ENOMEM. */
int keep_requests_read(const char *run, struct keep_request **requests,
		       size_t *count);
void keep_requests_free(struct keep_request *requests, size_t count);

/* Running this program once more. */

/*
 * Run it with these arguments (argv[0] is its name) in a directory and wait for
 * its end. What it writes to standard error can be read from *output, which the
 * caller closes; NULL: errno says why not. `detached`: without standard input
 * and output. Returns its exit status, or -1.
 */
int self_rerun(char *const *argv, const char *directory, bool detached,
	       FILE **output);

/* Arming what waits for kernel modules. */

/*
 * Arm the TDFs whose kernel module is there, by `trace on`: their requests go,
 * or keep why it was refused, until the module goes. The run directory must
 * not be locked. Is a request left?
 */
bool keep_arm_requests(const char *path);

#endif

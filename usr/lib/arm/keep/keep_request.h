/* SPDX-License-Identifier: GPL-2.0 */
/* The TDFs that wait for a kernel module, as RUN/wait has them (keep.h). */
#ifndef TRACE_KEEP_REQUEST_H
#define TRACE_KEEP_REQUEST_H

#include <stddef.h>
#include "keep.h"

/* All that can be read, by number. 0 or -ENOMEM. */
int keep_requests_read(const char *run, struct keep_request **requests,
		       size_t *count);
void keep_requests_free(struct keep_request *requests, size_t count);

/* Under the lock of the run directory: */
void keep_request_drop(const struct run_dir *run, unsigned int number);
/* why NULL: it waits again. */
void keep_request_refuse(const struct run_dir *run, unsigned int number,
			 const char *why);

/* Is the module there, with its init done? */
bool keep_module_is_live(const char *module);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The other programs of rastrace: beside this one, else in PATH. */
#ifndef TRACE_SIBLING_H
#define TRACE_SIBLING_H

#include <sys/types.h>
#include "lib/error.h"

/* Start argv[0]; `output` becomes its standard output, `messages` its standard error;
 * -1: this process's. Its process id, or a negative errno with err set. */
pid_t sibling_start(char *const *argv, int output, int messages,
		    struct error *err);
/* Wait for its end: its exit status, 0 to 255, or a negative errno with err set:
 * -ENOENT: there is no such program. */
int sibling_wait(pid_t pid, const char *name, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* A program that is run to be traced. */
#ifndef TRACE_CHILD_H
#define TRACE_CHILD_H

#include <sys/types.h>
#include "lib/error.h"

struct child {
	pid_t pid;
	char **argv;
	int go, why;		/* pipes: a byte to it, an errno from it */
};

/* Make its process, which waits. 0, or a negative errno with err set. */
int child_make(struct child *child, char **argv, struct error *err);

/*
 * Execute the program and wait for its end; meanwhile SIGTERM and SIGHUP are
 * passed on to it. Its wait status, or a negative errno with err set.
 */
int child_run(struct child *child, struct error *err);

/* It isn't needed after all; nothing when it has run. */
void child_drop(struct child *child);

#endif

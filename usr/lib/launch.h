/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that is started: its process waits, then executes it, and may stop when
 * the libraries are mapped, before any of their code runs.
 */
#ifndef LIB_LAUNCH_H
#define LIB_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>
#include "lib/error.h"

struct launch {
	char **argv;		/* NULL: there is no program */
	bool (*asked)(void);	/* end the wait for a stop when interrupted? NULL:
				 * no */
	pid_t pid;		/* 0: there is none */
	int go, why;		/* pipes, or -1 */
	bool stopped;		/* it is to stop, or waits, by ptrace(2) */
	bool ended;
	int status;		/* of waitpid(2), once it has ended */
};

/* Make the process, which waits. 0, or a negative errno with err set and none. */
int launch_make(struct launch *launch, char **argv, struct error *err);
/* Have it stop once it is executed: 0, or a negative errno with err set. The same
 * thread has to call what follows. */
int launch_seize(struct launch *launch, struct error *err);
/* Execute the program: 0, or a negative errno with err set. */
int launch_execute(struct launch *launch, struct error *err);
/* Let it run, without ptrace(2). */
int launch_continue(struct launch *launch, struct error *err);
/* Has it ended? Doesn't wait. */
bool launch_poll(struct launch *launch);
/* Wait for its end: the status of waitpid(2). */
int launch_wait(struct launch *launch);
/* End it when it was never let run; free what it needed. */
void launch_drop(struct launch *launch);

/* The first bytes of /proc/PID/`name`: how many, or -1 with errno set. */
ssize_t proc_read(pid_t pid, const char *name, void *data, size_t size);

#endif

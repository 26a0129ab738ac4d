/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that is started to be recorded: it stops when its libraries are
 * mapped, before any of their code runs, and goes on when all is armed.
 */
#ifndef HEAPMON_LAUNCH_H
#define HEAPMON_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>
#include "lib/error.h"

struct launch {
	pid_t pid;		/* 0: there is none */
	const char *name;
	bool stopped;		/* it waits, by ptrace(2) */
	bool ended;
	int status;		/* of waitpid(2), once it has ended */
};

/* 0, or a negative errno with err set and no process. */
int launch_start(struct launch *launch, char **argv, struct error *err);
/* Let it run, without ptrace(2). */
int launch_continue(struct launch *launch, struct error *err);
/* Has it ended? Doesn't wait. */
bool launch_poll(struct launch *launch);
/* End it when it was never let run. */
void launch_drop(struct launch *launch);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program that is started to be recorded: it stops when its libraries are
 * mapped, before any of their code runs, and goes on when all is armed. And the
 * signals that end a recording.
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

/* The first bytes of /proc/PID/`name`: how many, or -1 with errno set. */
ssize_t proc_read(pid_t pid, const char *name, void *data, size_t size);

/*
 * Signals that ask the recording to end: SIGINT, SIGTERM and SIGHUP. Before the
 * program that was started runs, and without one, the first of them ends it.
 * While that program runs the first one is handed on to it (the terminal has sent
 * SIGINT to both), and its end is that of the recording; the second one ends it.
 */

/* Keep the signals back (true), or have them come as before: what was kept back
 * is handled then. */
void stopping_hold(bool hold);
/* From now on they are noted. */
void stopping_take(void);
/* The program runs; 0: it doesn't, or not any more. Call it with the signals
 * kept back. */
void stopping_program(pid_t pid);
/* Has it been asked to end? */
bool stopping_asked(void);
/* The last signal; 0: there was none. */
int stopping_number(void);
/* Between two steps of the beginning: -ECANCELED with err set when it has been
 * asked to end, or 0. */
int stopping_check(struct error *err);

#endif

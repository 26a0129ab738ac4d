/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals that ask the recording to end: SIGINT, SIGTERM and SIGHUP. Before the
 * program that was started runs, and without one, the first of them ends it.
 * While that program runs the first one is handed on to it (the terminal has sent
 * SIGINT to both), and its end is that of the recording; the second one ends it.
 */
#ifndef HEAPMON_STOPPING_H
#define HEAPMON_STOPPING_H

#include <stdbool.h>
#include <sys/types.h>
#include "lib/error.h"

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

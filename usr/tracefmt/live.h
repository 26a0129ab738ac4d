/* SPDX-License-Identifier: GPL-2.0 */
/* The live buffer, read as if it were a file. A program that is built for
 * machines without one has portable/live.c instead. */
#ifndef TRACEFMT_LIVE_H
#define TRACEFMT_LIVE_H

#include "lib/read/read.h"

/* As it is now: a picture in memory. 0, or a negative errno with err set. */
int live_open(struct trace_file *file, struct error *err);

/*
 * What is in it, and what comes from now on, until live_stop(): through a pipe
 * that takes the place of standard input, from a thread that spools. Once in a
 * program. 0, or a negative errno with err set.
 */
int live_follow(struct trace_file *file, struct error *err);
bool live_followed(void);
/* The trace is to end, in order. For signal handlers. */
void live_stop(void);
/* The trace was read to its end, or no more of it is wanted. 0; or why it ended
 * by itself, with err set: LIVE_GONE, or a negative errno. */
#define LIVE_GONE	1
int live_end(struct error *err);

#endif

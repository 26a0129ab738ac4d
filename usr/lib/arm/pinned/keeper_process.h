/* SPDX-License-Identifier: GPL-2.0 */
/* The keeper's process (keep.h), which has a lock on RUN/keep. */
#ifndef TRACE_KEEPER_PROCESS_H
#define TRACE_KEEPER_PROCESS_H

/* 0: there is none; -1: one that can't be seen. */
int keeper_process_id(const char *run);

/* Returns the same, or a negative errno. */
int keeper_process_signal(const char *run, int number);

/* End it, and wait until it has. */
void keeper_process_stop(const char *run);

#endif

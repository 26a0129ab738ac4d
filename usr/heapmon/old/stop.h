/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stopping all threads of a process by ptrace(2). Of the thread that stops it:
 * when that ends, even by being killed, the kernel lets the process run on.
 */
#ifndef OLD_STOP_H
#define OLD_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "lib/error.h"

struct old_thread {
	pid_t tid;
	bool stopped;
	int signal;		/* that it was about to take */
};

struct old_stop {
	struct old_thread *threads;
	size_t count, room;
};

/* 0, or a negative errno with err set: then old_stop_end(), too; what doesn't
 * run on by that does when the calling thread ends. */
int old_stop_begin(struct old_stop *stop, uint32_t pid, struct error *err);
/* Let one thread, the n-th, go on for a moment, and stop it again: it may have a
 * lock. Threads that were begun meanwhile are stopped, too. */
int old_stop_turn(struct old_stop *stop, uint32_t pid, size_t n,
		  struct error *err);
/* Let all go. System calls that were interrupted by this only, and would say so,
 * are begun again. */
void old_stop_end(struct old_stop *stop);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libdw and libelf trust what they read: damaged debug information can crash
 * them, or keep them busy forever. A program that reads files of others with
 * them does so in a child process, whose death becomes a message.
 */
#ifndef LIB_GUARD_H
#define LIB_GUARD_H

#include "error.h"

/* CPU time without a guard_step() after which the child ends */
#define GUARD_SECONDS	120

/*
 * Call work(context) in a child process that ends with exit(), and return its
 * exit status. -EBADMSG when it crashed or took GUARD_SECONDS, with err set;
 * path (may be NULL) then is the last guard_file(), "" without one, to be freed.
 * Any other signal that ends the child ends this process as well. Where no
 * process can be made, work() runs in this one. SIGCHLD is not ignored
 * afterwards.
 */
int guard_run(int (*work)(void *context), void *context, char **path,
	      struct error *err);

/* In the child: what is read from now on; a part of the work is done. Both do
 * nothing elsewhere. */
void guard_file(const char *path);
void guard_step(void);

#endif

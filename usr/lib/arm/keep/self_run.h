/* SPDX-License-Identifier: GPL-2.0 */
/* Running this program once more. */
#ifndef ARM_SELF_RUN_H
#define ARM_SELF_RUN_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Run it with these arguments (argv[0] is its name) in a directory and wait for
 * its end. What it writes to standard error can be read from *output, which the
 * caller closes; NULL: errno says why not. `detached`: without standard input
 * and output. Returns its exit status, or -1.
 */
int self_run(char *const *argv, const char *directory, bool detached,
	     FILE **output);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OS/2's form of the command line: TRACE ON|OFF ... with /P:hex,hex /B:KB
 * /D:NAME,... for `trace on`, and /S /R /C /Q, which are commands of their own.
 * Letters may be small; one of these that isn't well formed is misuse, see
 * ../lib/options.h.
 */
#ifndef TRACE_SLASH_H
#define TRACE_SLASH_H

#include <stdbool.h>

/* Does the command line need slash_run()? */
bool slash_used(int argc, char **argv);

/*
 * Run its commands in order, by `run` with argv as of main() ("trace", "on",
 * ...); the first that fails is the last. Returns the exit status.
 */
int slash_run(int argc, char **argv, int (*run)(int argc, char **argv));

#endif

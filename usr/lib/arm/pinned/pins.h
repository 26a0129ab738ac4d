/* SPDX-License-Identifier: GPL-2.0 */
/* Directories of pins: walking and removing them. */
#ifndef TRACE_PINS_H
#define TRACE_PINS_H

#include <stdbool.h>

/*
 * Call `visit` with the path of every entry of a directory; `name` is its
 * last part. A directory that isn't there has no entries.
 */
void pins_each(const char *path,
	       void (*visit)(const char *path, const char *name, void *context),
	       void *context);

/* The number of entries of a directory. */
unsigned int pins_count(const char *path);

/*
 * Remove a directory of pins with everything in it. It disappears at once, by
 * a rename into RUN/gone. Kernels of the 6.1 age need up to 0.1 s per link to
 * free it: when that takes long, it goes on in the background. Stop the
 * recording first.
 */
void pins_remove(const char *run, const char *path);

/* The same of those entries of the directory `path` that are picked. */
void pins_remove_some(const char *run, const char *path,
		      bool (*pick)(const char *name, void *context),
		      void *context);

/* Go on with what a killed trace left in RUN/gone. */
void pins_remove_rest(const char *run);

#endif

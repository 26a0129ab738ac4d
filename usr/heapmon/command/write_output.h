/* SPDX-License-Identifier: GPL-2.0 */
/* What convert and report write. */
#ifndef HEAPMON_WRITE_OUTPUT_H
#define HEAPMON_WRITE_OUTPUT_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include "lib/error.h"

typedef int (*write_output)(void *context, FILE *out, struct error *err);

/* An error after which there is nothing to be kept. Not so -EBADMSG: a file that
 * is read is damaged, and what could be read of it is used. */
static inline bool heapmon_fatal(int code)
{
	return code && code != -EBADMSG;
}

/*
 * Write to the file `path` ("-": standard output) as write() does. The file
 * appears when all is written, or not at all after a fatal error. It must not be
 * one of the `count` inputs. 0, or a negative errno with err set.
 */
int heapmon_write_output(const char *path, char *const *inputs, int count,
			 write_output write, void *context, struct error *err);

#endif

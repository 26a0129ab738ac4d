/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of heapmon: one file each, in a folder of their own kind. */
#ifndef HEAPMON_COMMANDS_H
#define HEAPMON_COMMANDS_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include "lib/command.h"
#include "heapmon/core/reading.h"

extern const struct command heapmon_record,	/* record/ */
	heapmon_convert,	/* convert.c */
	heapmon_report,		/* report/ */
	heapmon_top;		/* report/ */

/* The format of that name; 0, or -1 after a message. */
int heapmon_format(const char *option, const char *value,
		   const struct heap_format **format);

/* Options for reading a file; `context` begins with struct heap_options. */
int heapmon_take_from(void *context, const char *value);
int heapmon_take_pid(void *context, const char *value);
int heapmon_take_bits(void *context, const char *value);
int heapmon_take_endian(void *context, const char *value);
int heapmon_take_to_bits(void *context, const char *value);
int heapmon_take_to_endian(void *context, const char *value);
int heapmon_take_symbols(void *context, const char *value);

#define HEAPMON_READ_OPTIONS \
	{ "pid", 'p', "PID", "read only the events of this process", heapmon_take_pid }, \
	{ "symbols", 0, "DIR", \
	  "search here for programs and debug files; may be repeated", \
	  heapmon_take_symbols }, \
	{ "no-symbols", 0, NULL, "print addresses as module and offset", \
	  OPTION_PLACE(struct heap_options, no_symbols) }

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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A user's configuration file: lines "name = value", empty ones, and comments from
 * a # at the beginning of a line on. A value in double quotes may begin and end
 * with blanks.
 */
#ifndef LIB_CONFIG_FILE_H
#define LIB_CONFIG_FILE_H

#include <stddef.h>
#include "error.h"

#define CONFIG_FILE_MAX	(64u << 10)	/* bytes */

/* Take a line; both strings stay as long as the text. 0, or a negative errno with
 * err set. */
typedef int (*config_take)(void *context, const char *name, const char *value,
			   struct error *err);

/*
 * The lines of n bytes, which are cut up; text[n] is a byte of the caller's, too.
 * 0, or a negative errno with err set: the text names path and line.
 */
int config_parse(char *text, size_t n, const char *path, config_take take,
		 void *context, struct error *err);

/* The same of a file; one that is not there has no lines. *text is to be freed, if
 * it is not NULL. */
int config_read(char **text, const char *path, config_take take,
		void *context, struct error *err);

/* rastrace/NAME in XDG_CONFIG_HOME or ~/.config, to be freed; NULL: the user has
 * no such directory, or no memory. */
char *config_path(const char *name);

#endif

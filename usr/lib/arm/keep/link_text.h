/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A bpffs has no files, so what is to be kept is the text of symbolic links:
 * parts that end with a line feed, in which \\ is a backslash and \n a line
 * feed.
 */
#ifndef TRACE_LINK_TEXT_H
#define TRACE_LINK_TEXT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include "lib/error.h"

#define LINK_TEXT_MAX	PATH_MAX	/* with a zero */

struct link_text {
	char bytes[LINK_TEXT_MAX];
	size_t length;
	bool full;		/* it isn't all of it */
};

void link_text_add(struct link_text *text, const char *part);
/* Split in place; the number of parts. */
size_t link_text_split(char *text, char **parts, size_t most);

/* The text of a link; allocated, NULL: none. */
char *link_text_read(const char *path);
/* Make the link, or replace it. 0, or a negative errno with err set. */
int link_text_write(const struct link_text *text, const char *path,
		    struct error *err);

#endif

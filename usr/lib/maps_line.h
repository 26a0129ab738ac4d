/* SPDX-License-Identifier: GPL-2.0 */
/* A line of /proc/PID/maps. */
#ifndef LIB_MAPS_LINE_H
#define LIB_MAPS_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct maps_line {
	uint64_t start, end, offset, inode;
	dev_t device;
	char mode[8];		/* "r-xp" */
	/* within the line, as the kernel tells it: a newline is \012; "[heap]",
	 * "[anon:x]" and so on are no files; "": it has none */
	char *path;
	char *deleted;		/* " (deleted)" at its end, to be cut off by
				 * those whom it is in the way; or NULL */
};

/* The newline is cut off, nothing else is changed. false: it isn't what the
 * kernel writes. Of a line that is cut the path may be. */
bool maps_line_parse(char *line, struct maps_line *maps);

#endif

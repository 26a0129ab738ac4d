// SPDX-License-Identifier: GPL-2.0
#include "maps_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Of a longer path. */
static char *deleted_find(char *path)
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;
	size_t length = strlen(path);

	if (length <= tail || strcmp(path + length - tail, deleted))
		return NULL;
	return path + length - tail;
}

/* "7f2e10000000-7f2e10022000 r-xp 00001000 fd:01 1234   /usr/lib/libc.so.6" */
bool maps_line_parse(char *line, struct maps_line *maps)
{
	unsigned int major, minor;
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %"
		   SCNu64 "%n", &maps->start, &maps->end, maps->mode,
		   &maps->offset, &major, &minor, &maps->inode, &at) != 7 ||
	    maps->end <= maps->start || strlen(maps->mode) != 4)
		return false;
	if (line[at] && !strchr(" \n", line[at]))
		return false;
	maps->device = makedev(major, minor);
	maps->path = line + at + strspn(line + at, " ");
	maps->path[strcspn(maps->path, "\n")] = '\0';
	maps->deleted = deleted_find(maps->path);
	return true;
}

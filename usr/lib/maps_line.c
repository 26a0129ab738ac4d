// SPDX-License-Identifier: GPL-2.0
#include "maps_line.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
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

int maps_lines_open(struct maps_lines *lines, uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	*lines = (struct maps_lines){ .file = fopen(path, "re") };
	return lines->file ? 0 : -errno;
}

bool maps_lines_next(struct maps_lines *lines, struct maps_line *maps)
{
	do {
		if (getline(&lines->line, &lines->room, lines->file) <= 0) {
			lines->error = feof(lines->file) ? 0 : -errno;
			return false;
		}
	} while (!maps_line_parse(lines->line, maps));
	return true;
}

int maps_lines_close(struct maps_lines *lines)
{
	free(lines->line);
	fclose(lines->file);
	return lines->error;
}

int maps_line_open(const struct maps_line *maps, uint32_t pid)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64
		 "-%" PRIx64, pid, maps->start, maps->end);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

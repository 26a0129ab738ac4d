// SPDX-License-Identifier: GPL-2.0
#include "maps_line.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define HOST_PID_NS	0xeffffffcu	/* the kernel's PROC_PID_INIT_INO */

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

static int maps_lines_open_path(struct maps_lines *lines, const char *path)
{
	*lines = (struct maps_lines){ .file = fopen(path, "re") };
	return lines->file ? 0 : -errno;
}

int maps_lines_open(struct maps_lines *lines, uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	return maps_lines_open_path(lines, path);
}

int maps_lines_open_thread(struct maps_lines *lines, uint32_t pid, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/maps",
		 pid, tid);
	return maps_lines_open_path(lines, path);
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

bool process_stat_parse(const char *text, struct process_stat *stat)
{
	/* the name in parentheses may have any bytes, numbers follow;
	 * the state is field 3, the start time field 22, the stack field 28 */
	const char *name_end = strrchr(text, ')');

	return name_end &&
	       sscanf(name_end + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		      " %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64
		      " %*s %*s %*s %*s %*s %" SCNu64,
		      &stat->state, &stat->start, &stat->stack) == 3;
}

static int stat_read(const char *path, struct process_stat *stat)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), code;
	char text[1024];
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	code = n < 0 ? -errno : 0;
	close(fd);
	if (code)
		return code;
	text[n] = '\0';
	return process_stat_parse(text, stat) ? 0 : -ENOENT;
}

int process_stat_read(uint32_t pid, struct process_stat *stat)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	return stat_read(path, stat);
}

bool process_ids_are_of_host(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == HOST_PID_NS;
}

bool process_thread_ended(uint32_t pid, uint32_t tid)
{
	struct process_stat stat;
	char path[64];
	int code;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat",
		 pid, tid);
	code = stat_read(path, &stat);
	return code == -ENOENT || code == -ESRCH ||
	       (!code && strchr("ZXx", stat.state));
}

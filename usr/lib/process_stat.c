// SPDX-License-Identifier: GPL-2.0
#include "process_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool process_stat_parse(const char *text, struct process_stat *stat)
{
	/* the name in parentheses may have any bytes, numbers follow;
	 * the state is field 3, the start time field 22 */
	const char *name_end = strrchr(text, ')');

	return name_end &&
	       sscanf(name_end + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		      " %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64,
		      &stat->state, &stat->start) == 2;
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

// SPDX-License-Identifier: GPL-2.0
#include "footprint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/sysbpf.h"

#define MEMLOCK	"\nmemlock:"

/* "memlock" in the map's fdinfo (Documentation/filesystems/proc.rst, 3.8). */
static uint64_t footprint_map_bytes(int fd)
{
	char path[64], text[1024], *line;
	int info;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return 0;
	n = read(info, text, sizeof(text) - 1);
	close(info);
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, MEMLOCK);
	return line ? strtoull(line + strlen(MEMLOCK), NULL, 10) : 0;
}

/* `names` ends with NULL. */
static uint64_t footprint_maps_bytes(const char *dir, const char *const *names)
{
	char path[PATH_MAX + 16];
	uint64_t bytes = 0;

	for (; *names; names++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%s", dir, *names);
		fd = sysbpf_map_get(path);
		if (fd < 0)
			continue;
		bytes += footprint_map_bytes(fd);
		close(fd);
	}
	return bytes;
}

uint64_t footprint_read_buffer(const char *run)
{
	static const char *const names[] = {
		"buffer", "nest", "control", "sessions", "trigger", "processes",
		NULL,
	};

	return footprint_maps_bytes(run, names);
}

uint64_t footprint_read_session(const struct session *session)
{
	static const char *const names[] = {
		"count", "why", "state", "sites", "limits", "pids", "majors",
		NULL,
	};

	return session->dir[0] ? footprint_maps_bytes(session->dir, names) : 0;
}

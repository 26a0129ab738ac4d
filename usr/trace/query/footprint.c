// SPDX-License-Identifier: GPL-2.0
#include "footprint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>
#include "../../lib/sysbpf.h"

/* "memlock" in the map's fdinfo (Documentation/filesystems/proc.rst, 3.8). */
static uint64_t map_bytes(int fd)
{
	unsigned long long bytes = 0;
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	if (file)
		fclose(file);
	return bytes;
}

/* `names` ends with NULL. */
static uint64_t maps_bytes(const char *dir, const char *const *names)
{
	char path[PATH_MAX + 16];
	uint64_t bytes = 0;

	for (; *names; names++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%s", dir, *names);
		fd = sysbpf_object_get(path);
		if (fd == -EACCES)
			fd = sysbpf_map_get_readable(path);
		if (fd < 0)
			continue;
		bytes += map_bytes(fd);
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

	return maps_bytes(run, names);
}

uint64_t footprint_read_session(const struct session *session)
{
	static const char *const names[] = {
		"count", "why", "state", "sites", "limits", "pids", "majors",
		NULL,
	};

	return session->dir[0] ? maps_bytes(session->dir, names) : 0;
}

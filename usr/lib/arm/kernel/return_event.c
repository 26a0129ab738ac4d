// SPDX-License-Identifier: GPL-2.0
/*
 * An event is defined by a line in tracefs, and stays when the program ends that
 * wrote it. The kernel refuses to remove one that is in use, so that all can be
 * tried at any time.
 */
#include "return_event.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <sys/file.h>
#include <sys/syscall.h>

#define GROUP	"rastrace_calls"
#define ACTIVE	1024		/* calls under way at a time */
#define PAUSE_US	10000
#define PAUSES	300		/* for a kernel that frees many links */

/* tracefs, whether or not it is mounted somewhere */
static int tracefs_open(void)
{
	int fs = syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), mount = -1;

	if (fs >= 0 && !syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL,
				NULL, 0))
		mount = syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
	if (fs >= 0)
		close(fs);
	return mount;
}

/* Locked until it is closed: another trace could take a new event for one that is
 * no longer in use. */
static int return_events_open(int tracefs)
{
	int fd = openat(tracefs, "kprobe_events", O_RDWR | O_APPEND | O_CLOEXEC);

	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

static bool return_events_write(int events, const char *line)
{
	ssize_t n = strlen(line);

	return write(events, line, n) == n;
}

static int return_event_open(int tracefs, const char *name)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT,
	};
	char path[96], number[24] = "";
	int fd;

	snprintf(path, sizeof(path), "events/%s/%s/id", GROUP, name);
	fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, number, sizeof(number) - 1) <= 0)
		number[0] = '\0';
	if (fd >= 0)
		close(fd);
	attr.config = strtoull(number, NULL, 10);
	return attr.config ? syscall(SYS_perf_event_open, &attr, -1, 0, -1,
				     PERF_FLAG_FD_CLOEXEC) : -1;
}

static bool return_event_exists(int tracefs, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "events/%s/%s", GROUP, name);
	return !faccessat(tracefs, path, F_OK, 0);
}

/* All that aren't in use. How many of the owner's are? */
static unsigned int return_events_remove(uint64_t owner)
{
	int tracefs = tracefs_open();
	int events = tracefs < 0 ? -1 : return_events_open(tracefs);
	FILE *list = events < 0 ? NULL : fdopen(dup(events), "r");
	char *text = NULL, *name, line[96], own[48];
	unsigned int used = 0;
	size_t size = 0;

	snprintf(own, sizeof(own), ":" GROUP "/r_%" PRIu64 "_", owner);
	/* As a whole: the kernel finds what it gives next by counting, and those
	 * that are gone don't count. */
	name = list && getdelim(&text, &size, '\0', list) > 0 ? text : NULL;
	while (name && (name = strstr(name, ":" GROUP "/"))) {
		snprintf(line, sizeof(line), "-%.*s\n",
			 (int)strcspn(name, " \n"), name);
		used += !return_events_write(events, line) &&
			!strncmp(name, own, strlen(own));
		name += strcspn(name, "\n");
	}
	free(text);
	if (list)
		fclose(list);
	if (events >= 0)
		close(events);
	if (tracefs >= 0)
		close(tracefs);
	return used;
}

void return_events_sweep(uint64_t owner)
{
	for (int i = 0; return_events_remove(owner) && i < PAUSES; i++)
		usleep(PAUSE_US);
}

int return_event_make(const char *symbol, uint64_t owner)
{
	static unsigned int made;
	char name[48], line[768];
	int tracefs, events, length, event = -1;

	if (!__atomic_load_n(&made, __ATOMIC_RELAXED))
		return_events_sweep(0);	/* a killed trace has left them */
	tracefs = tracefs_open();
	events = tracefs < 0 ? -1 : return_events_open(tracefs);
	/* A second function for a name that there is would be added to it. */
	do {
		snprintf(name, sizeof(name), "r_%" PRIu64 "_%u", owner,
			 __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED));
	} while (events >= 0 && return_event_exists(tracefs, name));
	length = snprintf(line, sizeof(line), "r%u:%s/%s %s\n", ACTIVE, GROUP,
			  name, symbol);
	if (events >= 0 && length < (int)sizeof(line) &&
	    return_events_write(events, line))
		event = return_event_open(tracefs, name);
	if (events >= 0)
		close(events);
	if (tracefs >= 0)
		close(tracefs);
	return event < 0 ? -ENOENT : event;
}

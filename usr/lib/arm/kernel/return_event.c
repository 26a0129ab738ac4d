// SPDX-License-Identifier: GPL-2.0
/*
 * An event is defined by a line in tracefs, and stays when the program ends that
 * wrote it. The kernel refuses to remove one that is in use, so that all can be
 * tried at any time.
 */
#include "return_event.h"

#include <errno.h>
#include <fcntl.h>
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

/* How many are in use? */
static unsigned int return_events_remove(void)
{
	int tracefs = tracefs_open();
	int events = tracefs < 0 ? -1 : return_events_open(tracefs);
	FILE *list = events < 0 ? NULL : fdopen(dup(events), "r");
	char *text = NULL, *name, line[96];
	unsigned int used = 0;
	size_t size = 0;

	while (list && getline(&text, &size, list) > 0) {
		name = strstr(text, ":" GROUP "/");
		if (!name)
			continue;
		snprintf(line, sizeof(line), "-%.*s\n",
			 (int)strcspn(name, " \n"), name);
		used += !return_events_write(events, line);
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

void return_events_sweep(bool wait)
{
	for (int tries = wait ? 20 : 1; return_events_remove() && --tries;)
		usleep(10000);
}

int return_event_make(const char *symbol)
{
	static unsigned int made;
	unsigned int number = __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
	int tracefs, events, event = -1;
	char name[48], line[768];

	if (!number)	/* a killed trace has left them */
		return_events_sweep(false);
	tracefs = tracefs_open();
	events = tracefs < 0 ? -1 : return_events_open(tracefs);
	snprintf(name, sizeof(name), "r_%d_%u", getpid(), number);
	snprintf(line, sizeof(line), "r%u:%s/%s %s\n", ACTIVE, GROUP, name,
		 symbol);
	if (events >= 0 && return_events_write(events, line))
		event = return_event_open(tracefs, name);
	if (events >= 0)
		close(events);
	if (tracefs >= 0)
		close(tracefs);
	return event < 0 ? -ENOENT : event;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded: kills the process in front of the KILL_NTHth name in a folder that
 * it takes away or changes.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pid_t first;
static unsigned long left;

__attribute__((constructor)) static void begin(void)
{
	const char *nth = getenv("KILL_NTH");

	first = getpid();
	left = nth ? strtoul(nth, NULL, 10) : 0;
}

static void *next(const char *name)
{
	/* a child goes on with what it was to remove */
	if (getpid() == first && left && !--left)
		raise(SIGKILL);
	return dlsym(RTLD_NEXT, name);
}

int unlink(const char *path)
{
	int (*real)(const char *path) = next("unlink");

	return real(path);
}

int rmdir(const char *path)
{
	int (*real)(const char *path) = next("rmdir");

	return real(path);
}

int rename(const char *from, const char *to)
{
	int (*real)(const char *from, const char *to) = next("rename");

	return real(from, to);
}

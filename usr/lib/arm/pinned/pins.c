// SPDX-License-Identifier: GPL-2.0
#include "pins.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "lib/outfile.h"

#define PATIENCE_MS	150
#define FEW		8	/* pins that aren't worth a process */

struct pins_walk {
	const char *path;
	void (*visit)(const char *path, const char *name, void *context);
	void *context;
};

static void pin_visit(int dir, const char *name, void *context)
{
	const struct pins_walk *walk = context;
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s/%s", walk->path, name) <
	    (int)sizeof(full))
		walk->visit(full, name, walk->context);
}

void pins_each(const char *path,
	       void (*visit)(const char *path, const char *name, void *context),
	       void *context)
{
	struct pins_walk walk = { path, visit, context };
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return;
	directory_each(dir, pin_visit, &walk);
	close(dir);
}

static void pins_entry_count(const char *path, const char *name, void *context)
{
	++*(unsigned int *)context;
}

unsigned int pins_count(const char *path)
{
	unsigned int count = 0;

	pins_each(path, pins_entry_count, &count);
	return count;
}

static void pin_remove(const char *path, const char *name, void *context)
{
	struct stat st;

	if (lstat(path, &st))
		return;
	if (!S_ISDIR(st.st_mode)) {
		unlink(path);
		return;
	}
	pins_each(path, pin_remove, NULL);
	rmdir(path);
}

static void pin_count(const char *path, const char *name, void *context)
{
	unsigned int *count = context;
	struct stat st;

	++*count;
	if (!lstat(path, &st) && S_ISDIR(st.st_mode))
		pins_each(path, pin_count, context);
}

/* In a process of its own, which is waited for as long as patience lasts. */
static void remove_aside(const char *path, const char *name, void *context)
{
	struct pollfd done = { .events = POLLIN };
	unsigned int pins = 0;
	int ends[2];
	pid_t child;

	pins_each(path, pin_count, &pins);
	if (pins < FEW || pipe(ends)) {
		pin_remove(path, name, NULL);
		return;
	}
	child = fork();
	if (!child) {
		setsid();
		dup2(ends[1], 0);
		close_range(1, ~0U, 0);
		pin_remove(path, name, NULL);
		_exit(0);
	}
	if (child < 0)
		pin_remove(path, name, NULL);
	close(ends[1]);
	done.fd = ends[0];
	if (child > 0 && poll(&done, 1, PATIENCE_MS) > 0)
		waitpid(child, NULL, 0);
	close(ends[0]);
}

/* A name in RUN/gone that nothing has yet. */
static int gone_name(const char *run, char gone[PATH_MAX],
		     char unique[PATH_MAX])
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	snprintf(gone, PATH_MAX, "%s/gone", run);
	if (snprintf(unique, PATH_MAX, "%s/%d_%lld_%ld", gone, getpid(),
		     (long long)t.tv_sec, t.tv_nsec) >= PATH_MAX)
		return -ENAMETOOLONG;
	mkdir(gone, 0700);
	return 0;
}

void pins_remove(const char *run, const char *path)
{
	char gone[PATH_MAX], unique[PATH_MAX];

	if (gone_name(run, gone, unique))
		return;
	if (rename(path, unique))
		strcpy(unique, path);
	remove_aside(unique, "", NULL);
	rmdir(gone);
}

struct pins_moving {
	const char *to;
	bool (*pick)(const char *name, void *context);
	void *context;
};

static void pin_move(const char *path, const char *name, void *context)
{
	const struct pins_moving *moving = context;
	char to[PATH_MAX + NAME_MAX];

	if (!moving->pick(name, moving->context))
		return;
	snprintf(to, sizeof(to), "%s/%s", moving->to, name);
	if (rename(path, to))
		pin_remove(path, name, NULL);
}

void pins_remove_some(const char *run, const char *path,
		      bool (*pick)(const char *name, void *context),
		      void *context)
{
	char gone[PATH_MAX], unique[PATH_MAX];
	struct pins_moving moving = {
		.to = unique, .pick = pick, .context = context,
	};

	if (gone_name(run, gone, unique))
		return;
	mkdir(unique, 0700);
	pins_each(path, pin_move, &moving);
	remove_aside(unique, "", NULL);
	rmdir(gone);
}

void pins_remove_rest(const char *run)
{
	char gone[PATH_MAX];

	snprintf(gone, sizeof(gone), "%s/gone", run);
	pins_each(gone, remove_aside, NULL);
	rmdir(gone);
}

// SPDX-License-Identifier: GPL-2.0
#include "run_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include "lib/buffer/pin.h"
#include "lib/maps_line.h"
#include "pins.h"
#include "retire.h"

#define LOCK_ATTEMPTS	100
#define LOCK_PAUSE_US	20000

static int run_mount(const char *path, struct error *err)
{
	struct stat st;
	bool made;
	int code;

	/* a link and an existing bpffs are for run_dir_check() to judge */
	if (run_dir_is_bpffs(path) ||
	    (!lstat(path, &st) && S_ISLNK(st.st_mode)))
		return 0;
	made = !mkdir(path, 0700);
	if (!made && errno != EEXIST)
		return pin_refused(err, -errno, "cannot make '%s'", path);
	if (pins_count(path))
		return error_set(err, -ENOTEMPTY,
				 "cannot mount a bpffs on '%s': it isn't empty",
				 path);
	if (!mount("rastrace", path, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		   "mode=0700"))
		return 0;
	code = -errno;
	if (made)
		rmdir(path);
	return pin_refused(err, code, "cannot mount a bpffs on '%s'", path);
}

/*
 * RUN.lock, where a file can be made beside the directory; else, when that is
 * in a bpffs of others, RUN/lock/, which is there while it is held.
 */
static int lock_open(struct run_dir *run, char name[PATH_MAX],
		     struct error *err)
{
	int fd, code;

	snprintf(name, PATH_MAX, "%s.lock", run->path);
	run->lock_inside = false;
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	run->lock_made |= fd >= 0;
	if (fd < 0 && errno == EEXIST) {
		fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		/* the process that made it could not use the directory */
		if (fd < 0 && errno == ENOENT)
			return -EAGAIN;
	}
	if (fd >= 0)
		return fd;
	code = -errno;
	if (run_dir_check(run->path, NULL))
		return pin_refused(err, code, "cannot open '%s'", name);
	snprintf(name, PATH_MAX, "%s/lock", run->path);
	run->lock_inside = true;
	if (mkdir(name, 0700) && errno != EEXIST)
		return pin_refused(err, -errno, "cannot make '%s'", name);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0)
		return fd;
	/* its holder has just given it up */
	if (errno == ENOENT)
		return -EAGAIN;
	return pin_refused(err, -errno, "cannot open '%s'", name);
}

/* Sets run->lock; -EAGAIN: another process has it, or has just given it up. */
static int lock_try(struct run_dir *run, char name[PATH_MAX],
		    struct error *err)
{
	int code = 0, fd = lock_open(run, name, err);
	struct stat opened, named;

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB))
		code = errno == EWOULDBLOCK ? -EAGAIN :
			pin_refused(err, -errno, "cannot lock '%s'", name);
	else if (fstat(fd, &opened) || stat(name, &named) ||
		 opened.st_dev != named.st_dev ||
		 opened.st_ino != named.st_ino)
		code = -EAGAIN;
	if (code)
		close(fd);
	else
		run->lock = fd;
	return code;
}

static int lock_take(struct run_dir *run, struct error *err)
{
	char name[PATH_MAX], holder[16] = "unknown";
	int tries, pid, code = lock_try(run, name, err);

	for (tries = 0; code == -EAGAIN && tries < LOCK_ATTEMPTS; tries++) {
		usleep(LOCK_PAUSE_US);
		code = lock_try(run, name, err);
	}
	if (code != -EAGAIN)
		return code;
	pid = run_dir_lock_holder(name);
	if (pid > 0)
		snprintf(holder, sizeof(holder), "%d", pid);
	error_set(err, -EBUSY, "another trace (process %s) is at work in '%s'",
		  holder, run->path);
	error_hint(err, "wait for it to end and try again");
	return -EBUSY;
}

bool run_dir_is_left(const char *name)
{
	unsigned long long start;
	struct process_stat now;
	int pid, code;

	if (sscanf(name, "run_%d_%llu", &pid, &start) != 2)
		return false;
	code = process_stat_read(pid, &now);
	return code ? code == -ENOENT || code == -ESRCH : now.start != start;
}

static void private_clean(const char *path, const char *name, void *context)
{
	const struct run_dir *run = context;

	if (run_dir_is_left(name))
		pins_remove(run->path, path);
}

static void new_clean(const char *path, const char *name, void *context)
{
	const struct run_dir *run = context;

	pins_remove(run->path, path);
}

int run_dir_open(struct run_dir *run, bool create, struct error *err)
{
	size_t length = snprintf(run->path, sizeof(run->path), "%s",
				 pin_run());
	char path[PATH_MAX];
	struct stat st;
	int code = 0;

	run->lock = -1;
	run->lock_made = false;
	if (length >= sizeof(run->path))
		return error_set(err, -ENAMETOOLONG,
				 "the name of the run directory is too long");
	/* without slashes at the end: the lock is beside the directory */
	while (length > 1 && run->path[length - 1] == '/')
		run->path[--length] = '\0';
	if (!lstat(run->path, &st) && !S_ISDIR(st.st_mode) &&
	    !S_ISLNK(st.st_mode))
		return error_set(err, -ENOTDIR, "'%s' is no directory",
				 run->path);
	if (!create || run_dir_is_bpffs(run->path))
		code = run_dir_check(run->path, err);
	if (code)
		return code;
	code = lock_take(run, err);
	if (code)
		return code;
	code = create ? run_mount(run->path, err) : 0;
	if (!code)
		code = run_dir_check(run->path, err);
	if (!code) {
		/* What a trace that was killed has left. */
		snprintf(path, sizeof(path), "%s/new", run->path);
		pins_each(path, new_clean, run);
		pins_each(run->path, private_clean, run);
		pins_remove_rest(run->path);
		retire_unfinished(run);
		return 0;
	}
	if (run->lock_made) {
		/* It was made for a directory that can't be used. */
		snprintf(path, sizeof(path), "%s.lock", run->path);
		unlink(path);
	}
	run_dir_close(run);
	return code;
}

void run_dir_close(struct run_dir *run)
{
	char name[PATH_MAX];

	if (run->lock < 0)
		return;
	snprintf(name, sizeof(name), "%s/lock", run->path);
	if (run->lock_inside)
		rmdir(name);
	close(run->lock);
	run->lock = -1;
}


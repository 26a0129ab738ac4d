// SPDX-License-Identifier: GPL-2.0
#include "run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include "../lib/pin.h"
#include "pins.h"
#include "retire.h"

#define RUN_MODE	0750
#define LOCK_ATTEMPTS	100
#define LOCK_PAUSE_US	20000

static bool is_bpffs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == BPF_FS_MAGIC;
}

int run_dir_check(const char *path, struct error *err)
{
	struct stat st;

	if (lstat(path, &st)) {
		if (errno != EACCES && errno != EPERM)
			return error_set(err, -ENOENT,
					 "nothing is armed: '%s' isn't there",
					 path);
		return pin_refused(err, -errno, "cannot look into '%s'", path);
	}
	if (S_ISLNK(st.st_mode))
		return error_set(err, -ELOOP,
				 "'%s' is a symbolic link: not used", path);
	if (!is_bpffs(path))
		return error_set(err, -ENOENT,
				 "nothing is armed: '%s' is no bpffs", path);
	if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & S_IWOTH)
		return error_set(err, -EPERM,
				 "'%s' belongs to user %u or is writable by everybody: not used",
				 path, st.st_uid);
	if (access(path, R_OK | X_OK))
		return pin_refused(err, -errno, "cannot look into '%s'", path);
	return 0;
}

static void name_count(const char *path, const char *name, void *context)
{
	++*(unsigned int *)context;
}

static int run_mount(const char *path, struct error *err)
{
	unsigned int names = 0;
	struct stat st;
	char data[16];

	/* a link and an existing bpffs are for run_dir_check() to judge */
	if (is_bpffs(path) || (!lstat(path, &st) && S_ISLNK(st.st_mode)))
		return 0;
	if (mkdir(path, RUN_MODE) && errno != EEXIST)
		return pin_refused(err, -errno, "cannot make '%s'", path);
	pins_each(path, name_count, &names);
	if (names)
		return error_set(err, -ENOTEMPTY,
				 "cannot mount a bpffs on '%s': it isn't empty",
				 path);
	snprintf(data, sizeof(data), "mode=%04o", RUN_MODE);
	if (mount("rastrace", path, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  data))
		return pin_refused(err, -errno, "cannot mount a bpffs on '%s'",
				   path);
	return 0;
}

static int lock_busy(int fd, const char *path, struct error *err)
{
	char pid[16] = "";
	ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);

	if (n > 0)
		pid[strcspn(pid, "\n")] = '\0';
	error_set(err, -EBUSY, "another trace (process %s) is at work in '%s'",
		  pid[0] ? pid : "unknown", path);
	error_hint(err, "wait for it to end and try again");
	return -EBUSY;
}

static int lock_take(const char *path, struct error *err)
{
	char name[PATH_MAX];
	int fd, tries;

	snprintf(name, sizeof(name), "%s.lock", path);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return pin_refused(err, -errno, "cannot open '%s'", name);
	for (tries = 0; flock(fd, LOCK_EX | LOCK_NB); tries++) {
		int code = -errno;

		if (code == -EWOULDBLOCK && tries < LOCK_ATTEMPTS) {
			usleep(LOCK_PAUSE_US);
			continue;
		}
		if (code == -EWOULDBLOCK)
			code = lock_busy(fd, path, err);
		else
			pin_refused(err, code, "cannot lock '%s'", name);
		close(fd);
		return code;
	}
	if (!ftruncate(fd, 0))
		dprintf(fd, "%d\n", getpid());
	return fd;
}

/* Start time of a process in ticks since boot: with the process id it names
 * one process for good. 0: there is no such process. */
static unsigned long long process_start(int pid)
{
	unsigned long long start = 0;
	char path[32], text[1024];
	const char *p;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	/* the name in parentheses may hold blanks; start time is field 22 */
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p)
		start = strtoull(p, NULL, 10);
	return start;
}

static void clean_private(const char *path, const char *name, void *context)
{
	const struct run_dir *run = context;
	unsigned long long start;
	int pid;

	if (sscanf(name, "run_%d_%llu", &pid, &start) == 2 &&
	    process_start(pid) != start)
		pins_remove(run->path, path);
}

static void clean_new(const char *path, const char *name, void *context)
{
	const struct run_dir *run = context;

	pins_remove(run->path, path);
}

/* What a trace that was killed has left. */
static void run_clean(struct run_dir *run)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/new", run->path);
	pins_each(path, clean_new, run);
	pins_each(run->path, clean_private, run);
	pins_remove_rest(run->path);
	retire_halves(run);
}

/* Without slashes at the end: the lock stands beside the directory. */
static int run_path_set(struct run_dir *run, struct error *err)
{
	size_t length = snprintf(run->path, sizeof(run->path), "%s",
				 pin_run());

	if (length >= sizeof(run->path))
		return error_set(err, -ENAMETOOLONG,
				 "the name of the run directory is too long");
	while (length > 1 && run->path[length - 1] == '/')
		run->path[--length] = '\0';
	return 0;
}

int run_dir_open(struct run_dir *run, bool create, struct error *err)
{
	int code = run_path_set(run, err);

	run->lock = -1;
	if (!code && !create)
		code = run_dir_check(run->path, err);
	if (code)
		return code;
	run->lock = lock_take(run->path, err);
	if (run->lock < 0)
		return run->lock;
	code = create ? run_mount(run->path, err) : 0;
	if (!code)
		code = run_dir_check(run->path, err);
	if (code)
		run_dir_close(run);
	else
		run_clean(run);
	return code;
}

void run_dir_close(struct run_dir *run)
{
	if (run->lock >= 0)
		close(run->lock);
	run->lock = -1;
}

int run_dir_open_private(struct run_dir *private, const struct run_dir *run,
			 struct error *err)
{
	char name[64];

	snprintf(name, sizeof(name), "run_%d_%llu", getpid(),
		 process_start(getpid()));
	private->lock = -1;
	if (snprintf(private->path, sizeof(private->path), "%s/%s", run->path,
		     name) >= (int)sizeof(private->path))
		return error_set(err, -ENAMETOOLONG,
				 "the name of the run directory is too long");
	return run_dir_make(run, name, err);
}

int run_dir_make(const struct run_dir *run, const char *name,
		 struct error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", run->path, name);
	if (mkdir(path, RUN_MODE) && errno != EEXIST)
		return pin_refused(err, -errno, "cannot make '%s'", path);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <bpf/bpf.h>
#include "lib/buffer/pin.h"
#include "lib/process_stat.h"
#include "pins.h"
#include "retire.h"

#define RUN_MODE	0700
#define RUN_MODE_SHOWN	0750
#define LOCK_ATTEMPTS	100
#define LOCK_PAUSE_US	20000

static bool is_bpffs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == BPF_FS_MAGIC;
}

/* May what is in there be trusted? */
static int owner_check(const char *path, const struct stat *st,
		       struct error *err)
{
	if (st->st_mode & S_IWOTH) {
		error_set(err, -EPERM,
			  "'%s' is writable by everybody: not used", path);
		error_hint(err, "chmod o-w '%s', if all in there is yours or root's",
			   path);
		return -EPERM;
	}
	if (!st->st_uid || st->st_uid == geteuid())
		return 0;
	error_set(err, -EPERM, "'%s' belongs to user %u: not used", path,
		  st->st_uid);
	error_hint(err, "run it as that user, or as root outside of user namespaces, or name a bpffs directory of yours (RASTRACE_RUN)");
	return -EPERM;
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
	if (owner_check(path, &st, err))
		return -EPERM;
	if (access(path, R_OK | X_OK))
		return pin_refused(err, -errno, "cannot look into '%s'", path);
	return 0;
}

int run_dir_check_reader(const char *path, struct error *err)
{
	int code = run_dir_check(path, err);

	return code == -EACCES ? 0 : code;
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
	bool made;
	int code;

	/* a link and an existing bpffs are for run_dir_check() to judge */
	if (is_bpffs(path) || (!lstat(path, &st) && S_ISLNK(st.st_mode)))
		return 0;
	made = !mkdir(path, RUN_MODE);
	if (!made && errno != EEXIST)
		return pin_refused(err, -errno, "cannot make '%s'", path);
	pins_each(path, name_count, &names);
	if (names)
		return error_set(err, -ENOTEMPTY,
				 "cannot mount a bpffs on '%s': it isn't empty",
				 path);
	snprintf(data, sizeof(data), "mode=%04o", RUN_MODE);
	if (!mount("rastrace", path, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		   data))
		return 0;
	code = -errno;
	if (made)
		rmdir(path);
	return pin_refused(err, code, "cannot mount a bpffs on '%s'", path);
}

/* "1: FLOCK  ADVISORY  WRITE 3203 00:30:4 0 EOF" */
int run_dir_lock_holder(const char *path)
{
	unsigned int major, minor;
	unsigned long inode;
	int pid, holder = 0;
	char line[256];
	struct stat st;
	FILE *file;

	if (stat(path, &st) || !(file = fopen("/proc/locks", "re")))
		return 0;
	while (!holder && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*d: FLOCK %*s WRITE %d %x:%x:%lu", &pid,
			   &major, &minor, &inode) == 4 &&
		    makedev(major, minor) == st.st_dev && inode == st.st_ino)
			holder = pid > 0 ? pid : -1;
	fclose(file);
	return holder;
}

static int lock_busy(const char *name, const char *path, struct error *err)
{
	int pid = run_dir_lock_holder(name);
	char text[16] = "unknown";

	if (pid > 0)
		snprintf(text, sizeof(text), "%d", pid);
	error_set(err, -EBUSY, "another trace (process %s) is at work in '%s'",
		  text, path);
	error_hint(err, "wait for it to end and try again");
	return -EBUSY;
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
		/* who had made it could not use the directory */
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

static bool is_there(int fd, const char *name)
{
	struct stat opened, named;

	return !fstat(fd, &opened) && !stat(name, &named) &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* 0 and run->lock; -EAGAIN: somebody else has it, or it has just gone */
static int lock_try(struct run_dir *run, char name[PATH_MAX],
		    struct error *err)
{
	int code = 0, fd = lock_open(run, name, err);

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB))
		code = errno == EWOULDBLOCK ? -EAGAIN :
			pin_refused(err, -errno, "cannot lock '%s'", name);
	else if (!is_there(fd, name))
		code = -EAGAIN;
	if (code)
		close(fd);
	else
		run->lock = fd;
	return code;
}

static int lock_take(struct run_dir *run, struct error *err)
{
	char name[PATH_MAX];
	int tries, code = lock_try(run, name, err);

	for (tries = 0; code == -EAGAIN && tries < LOCK_ATTEMPTS; tries++) {
		usleep(LOCK_PAUSE_US);
		code = lock_try(run, name, err);
	}
	return code == -EAGAIN ? lock_busy(name, run->path, err) : code;
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

static void clean_private(const char *path, const char *name, void *context)
{
	const struct run_dir *run = context;

	if (run_dir_is_left(name))
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

/* It was made for a directory that can't be used. */
static void lock_remove(const struct run_dir *run)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s.lock", run->path);
	unlink(name);
}

int run_dir_open(struct run_dir *run, bool create, struct error *err)
{
	int code = run_path_set(run, err);
	struct stat st;

	run->lock = -1;
	run->lock_made = false;
	if (!code && !lstat(run->path, &st) && !S_ISDIR(st.st_mode) &&
	    !S_ISLNK(st.st_mode))
		code = error_set(err, -ENOTDIR, "'%s' is no directory",
				 run->path);
	if (!code && (!create || is_bpffs(run->path)))
		code = run_dir_check(run->path, err);
	if (code)
		return code;
	code = lock_take(run, err);
	if (code)
		return code;
	code = create ? run_mount(run->path, err) : 0;
	if (!code)
		code = run_dir_check(run->path, err);
	if (!code)
		run_clean(run);
	else if (run->lock_made)
		lock_remove(run);
	if (code)
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

int run_dir_open_private(struct run_dir *private, const struct run_dir *run,
			 struct error *err)
{
	struct process_stat stat;
	int code = process_stat_read(getpid(), &stat);
	char name[64];

	private->lock = -1;
	if (code)
		return error_set(err, code, "cannot read '/proc/%d/stat': %s",
				 getpid(), strerror(-code));
	snprintf(name, sizeof(name), "run_%d_%" PRIu64, getpid(),
		 stat.start);
	if (snprintf(private->path, sizeof(private->path), "%s/%s", run->path,
		     name) >= (int)sizeof(private->path))
		return error_set(err, -ENAMETOOLONG,
				 "the name of the run directory is too long");
	return run_dir_make(run, name, err);
}

gid_t run_dir_group(const struct run_dir *run)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/control", run->path);
	return !lstat(path, &st) && st.st_mode & S_IRGRP ? st.st_gid :
		RUN_NO_GROUP;
}

int run_dir_share(const char *path, enum run_pin kind, gid_t group,
		  struct error *err)
{
	static const mode_t modes[] = {
		[RUN_PIN_SHOWN] = 0640, [RUN_PIN_FROZEN] = 0660,
	};
	struct stat st;

	if (group == RUN_NO_GROUP || kind == RUN_PIN_PRIVATE)
		return 0;
	if (lstat(path, &st) || lchown(path, -1, group) ||
	    chmod(path, S_ISDIR(st.st_mode) ? RUN_MODE_SHOWN : modes[kind]))
		return pin_refused(err, -errno, "cannot let group %u read '%s'",
				   group, path);
	return 0;
}

int run_dir_pin(const struct run_dir *run, const char *path, int fd,
		enum run_pin kind, struct error *err)
{
	int code = bpf_obj_pin(fd, path);

	if (code)
		return pin_refused(err, code, "cannot pin '%s'", path);
	return run_dir_share(path, kind, run_dir_group(run), err);
}

int run_dir_make(const struct run_dir *run, const char *name,
		 struct error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", run->path, name);
	if (!mkdir(path, RUN_MODE))
		return run_dir_share(path, RUN_PIN_SHOWN, run_dir_group(run),
				     err);
	if (errno != EEXIST)
		return pin_refused(err, -errno, "cannot make '%s'", path);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <bpf/bpf.h>
#include "lib/arm/kernel/return_event.h"
#include "lib/buffer/pin.h"
#include "lib/maps_line.h"
#include "lib/outfile.h"

#define PATIENCE_MS	150
#define FEW		8	/* pins that aren't worth a process */
#define LINKS_AT_A_TIME	256	/* that the kernel may be freeing */

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

/*
 * A link whose last pin is removed is freed by a kernel worker, which waits for
 * an RCU Tasks Trace grace period. 1,024 workers that wait on one CPU leave none
 * to the grace period itself: from then on nothing ends there (6.18). A link that
 * is closed is freed before close() returns, and so are those before it.
 */
static void pin_unlink(const char *path)
{
	static unsigned int removed;
	int fd = ++removed < LINKS_AT_A_TIME ? -1 : bpf_obj_get(path);
	char name[32], object[32] = "";

	unlink(path);
	if (fd < 0)
		return;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (readlink(name, object, sizeof(object) - 1) > 0 &&
	    strstr(object, "link"))
		removed = 0;
	close(fd);
}

/* Is it a session that may have return events? */
static bool pins_have_calls(const char *path)
{
	char open[PATH_MAX + 8];

	snprintf(open, sizeof(open), "%s/open", path);
	return !access(open, F_OK);
}

static void pin_remove(const char *path, const char *name, void *context)
{
	struct stat st;
	bool calls;

	if (lstat(path, &st))
		return;
	if (!S_ISDIR(st.st_mode)) {
		pin_unlink(path);
		return;
	}
	calls = pins_have_calls(path);
	pins_each(path, pin_remove, NULL);
	rmdir(path);
	if (calls)
		return_events_sweep(st.st_ino);
}

static void pin_count(const char *path, const char *name, void *context)
{
	unsigned int *count = context;
	struct stat st;

	++*count;
	if (!lstat(path, &st) && S_ISDIR(st.st_mode))
		pins_each(path, pin_count, context);
}

/*
 * In a process of its own, which is waited for as long as patience lasts. One of
 * them works at a time: each counts the links that it removes (pin_unlink).
 */
static void remove_aside(const char *path, const char *name, void *context)
{
	const char *run = context;
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
		flock(open(run, O_RDONLY | O_DIRECTORY), LOCK_EX);
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
	remove_aside(unique, "", (void *)run);
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
	remove_aside(unique, "", (void *)run);
	if (pins_have_calls(path))
		return_events_sweep(0);
	rmdir(gone);
}

void pins_remove_rest(const char *run)
{
	char gone[PATH_MAX];

	snprintf(gone, sizeof(gone), "%s/gone", run);
	pins_each(gone, remove_aside, (void *)run);
	rmdir(gone);
}

#define RUN_MODE	0700
#define RUN_MODE_SHOWN	0750

bool run_dir_is_bpffs(const char *path)
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
	if (!run_dir_is_bpffs(path))
		return error_set(err, -ENOENT,
				 "nothing is armed: '%s' is no bpffs", path);
	/* May what is in there be trusted? */
	if (st.st_mode & S_IWOTH) {
		error_set(err, -EPERM,
			  "'%s' is writable by everybody: not used", path);
		error_hint(err, "chmod o-w '%s', if all in there is yours or root's",
			   path);
		return -EPERM;
	}
	if (st.st_uid && st.st_uid != geteuid()) {
		error_set(err, -EPERM, "'%s' belongs to user %u: not used",
			  path, st.st_uid);
		error_hint(err, "run it as that user, or as root outside of user namespaces, or name a bpffs directory of yours (RASTRACE_RUN)");
		return -EPERM;
	}
	if (access(path, R_OK | X_OK))
		return pin_refused(err, -errno, "cannot look into '%s'", path);
	return 0;
}

int run_dir_check_reader(const char *path, struct error *err)
{
	int code = run_dir_check(path, err);

	return code == -EACCES ? 0 : code;
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

#define STOP_ATTEMPTS	100
#define STOP_PAUSE_US	10000

int keeper_process_id(const char *run)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/keep", run);
	return run_dir_lock_holder(path);
}

/* A process id may be another process's by now. */
int keeper_process_signal(const char *run, int number)
{
	int fd, pid = keeper_process_id(run);

	if (pid <= 0)
		return pid;
	fd = syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return -errno;
	if (keeper_process_id(run) == pid)
		syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
	close(fd);
	return pid;
}

void keeper_process_stop(const char *run)
{
	int tries = 0;

	if (keeper_process_signal(run, SIGTERM) <= 0)
		return;
	while (keeper_process_id(run) && tries++ < STOP_ATTEMPTS)
		usleep(STOP_PAUSE_US);
}

// SPDX-License-Identifier: GPL-2.0
#include "run_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <bpf/bpf.h>
#include "lib/buffer/pin.h"
#include "lib/maps_line.h"

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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The run directory: a bpffs of its own where everything armed is pinned.
 *
 *	RUN/buffer, nest, control, sessions,
 *	    trigger, processes			the trace buffer
 *	RUN/new/NAME/				being armed
 *	RUN/armed/NAME/				armed
 *	RUN/past/INDEX/				off: its counters
 *	RUN/gone/				being removed
 *	RUN/run_PID_START/			a private run directory of the
 *						`trace run` with that process id
 *						and start time
 *	RUN/keep/, RUN/wait/			see keep.h
 *	RUN/static/				see static.h
 *	RUN.lock				the lock for changes of RUN; of a
 *						directory inside a bpffs RUN/lock/
 *
 * Directories are 0700 and pins 0600, unless a group may read (--group-read):
 * then the buffer's, which user space can't write anyhow, are 0660, what is
 * shown of sessions 0640, and the directories 0750.
 */
#ifndef TRACE_RUN_DIR_H
#define TRACE_RUN_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include "lib/error.h"

/* room for what is appended to the path of the run directory */
#define RUN_PATH_MAX	(PATH_MAX - 2 * NAME_MAX - 32)

struct run_dir {
	char path[RUN_PATH_MAX];
	int lock;		/* file descriptor, -1: none */
	bool lock_inside;	/* it is RUN/lock */
	bool lock_made;		/* it is this one's RUN.lock */
};

/* A directory of its own inside `run`, for this process. */
int run_dir_open_private(struct run_dir *private, const struct run_dir *run,
			 struct error *err);

bool run_dir_is_bpffs(const char *path);
/* Is there a bpffs that is the caller's or root's? 0 or as run_dir_open(). */
int run_dir_check(const char *path, struct error *err);
/* The same for readers of the buffer: one that may not be looked into is for
 * buffer_open() to judge. */
int run_dir_check_reader(const char *path, struct error *err);

/* Make RUN/name; an existing one is fine. */
int run_dir_make(const struct run_dir *run, const char *name,
		 struct error *err);

/* Who may open a pin, beside its owner. */
enum run_pin {
	RUN_PIN_PRIVATE,	/* its owner alone */
	RUN_PIN_SHOWN,		/* the group may look */
	RUN_PIN_FROZEN,		/* the group may map it: user space can't write
				 * this map */
};

/* Pin an object at `path`, in `run`. */
int run_dir_pin(const struct run_dir *run, const char *path, int fd,
		enum run_pin kind, struct error *err);

#define RUN_NO_GROUP	((gid_t)-1)

/* The group that may read, as the buffer was made for; or RUN_NO_GROUP. */
gid_t run_dir_group(const struct run_dir *run);
/* Let the group open a pin, or with RUN_PIN_SHOWN look into a directory. */
int run_dir_share(const char *path, enum run_pin kind, gid_t group,
		  struct error *err);

/* Process that has locked this file or directory; 0: none, -1: one that isn't
 * seen from here. */
int run_dir_lock_holder(const char *path);

#endif

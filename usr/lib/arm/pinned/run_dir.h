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

/* Directories of pins: walking and removing them. */

/*
 * Call `visit` with the path of every entry of a directory; `name` is its
 * last part. A directory that isn't there has no entries.
 */
void pins_each(const char *path,
	       void (*visit)(const char *path, const char *name, void *context),
	       void *context);

/* The number of entries of a directory. */
unsigned int pins_count(const char *path);

/*
 * Remove a directory of pins with everything in it. It disappears at once, by
 * a rename into RUN/gone. Kernels of the 6.1 age need up to 0.1 s per link to
 * free it: when that takes long, it goes on in the background. Stop the
 * recording first.
 */
void pins_remove(const char *run, const char *path);

/* The same of those entries of the directory `path` that are picked. */
void pins_remove_some(const char *run, const char *path,
		      bool (*pick)(const char *name, void *context),
		      void *context);

/* Go on with what a killed trace left in RUN/gone. */
void pins_remove_rest(const char *run);

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

/* The keeper's process (keep.h), which has a lock on RUN/keep. */

/* 0: there is none; -1: one that can't be seen. */
int keeper_process_id(const char *run);

/* Returns the same, or a negative errno. */
int keeper_process_signal(const char *run, int number);

/* End it, and wait until it has. */
void keeper_process_stop(const char *run);

#endif

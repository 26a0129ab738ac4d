/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What `trace on` leaves to the keeper (keep.h) to do with a session:
 *
 *	RUN/armed/NAME/ends	when it ends (--for), and --max-hits
 *	RUN/armed/NAME/stop	the points of --stop-on, which need no keeper
 *	RUN/armed/NAME/snapshot, RUN/armed/NAME/run
 *				the points of --snapshot-on and --run-on, how
 *				often at most, and the file or the command
 *	RUN/armed/NAME/snapshot_did, RUN/armed/NAME/run_did
 *				what came of it so far
 *
 * All are symbolic links, whose text is what counts (link_text.h).
 */
#ifndef TRACE_KEEP_TASK_H
#define TRACE_KEEP_TASK_H

#include <stdint.h>
#include <sys/types.h>
#include "link_text.h"

enum keep_trigger_kind { KEEP_STOP, KEEP_SNAPSHOT, KEEP_RUN, KEEP_TRIGGERS };

extern const char *const keep_trigger_names[KEEP_TRIGGERS];

#define KEEP_POINTS_MAX	64	/* of a trigger, in one TDF */
#define KEEP_RATE_MAX	100	/* of --at-most */

struct keep_trigger {
	uint32_t points[KEEP_POINTS_MAX];	/* indexes in the TDF */
	unsigned int count;	/* 0: the session has no such trigger */
	uint32_t most;		/* so often at most ... */
	uint64_t span;		/* ... in so many ns */
	uid_t uid;		/* whose command it is */
	gid_t gid;
	char *text;		/* FILE.ras or the command; NULL: neither */
	char *directory;	/* where it was armed */
};

struct keep_tasks {
	uint64_t ends;		/* CLOCK_BOOTTIME, ns; 0: with a command */
	uint32_t max_hits;	/* 0: each point has its MAXHITS alone */
	struct keep_trigger triggers[KEEP_TRIGGERS];
};

/* Write them into the directory of a session. 0, or a negative errno with err
 * set. */
int keep_tasks_write(const struct keep_tasks *tasks, const char *dir,
		     struct error *err);
/* What isn't there, or can't be, is none. */
void keep_tasks_read(struct keep_tasks *tasks, const char *dir);
void keep_tasks_free(struct keep_tasks *tasks);

/* Is there something that the keeper has to do? */
bool keep_tasks_any(const struct keep_tasks *tasks);

/* What a trigger of KEEP_SNAPSHOT or KEEP_RUN has done. */
struct keep_did {
	uint64_t hits;		/* records of its points that were looked at */
	uint64_t done, failed;	/* files or commands */
	uint64_t passed;	/* hits that were passed over: too many, or the
				 * one before wasn't done yet */
	uint64_t time;		/* CLOCK_BOOTTIME, ns: of the last file or
				 * command; 0: there was none */
	char last[1024];	/* what came of it */
};

/* All 0 when it has done nothing yet. */
void keep_did_read(struct keep_did *did, const char *dir,
		   enum keep_trigger_kind kind);
void keep_did_write(const struct keep_did *did, const char *dir,
		    enum keep_trigger_kind kind);

#endif

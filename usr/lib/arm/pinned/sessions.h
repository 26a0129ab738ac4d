/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sessions of a run directory: taking the directory to change what is in
 * it, writing the session log of the buffer, and ending sessions.
 */
#ifndef TRACE_SESSIONS_H
#define TRACE_SESSIONS_H

#include "lib/buffer/session.h"
#include "lib/formats/tdf.h"
#include "run_dir.h"

/* The session log, while the run directory's lock is held. */

/*
 * Append a session that is off yet, of the points that are picked. `module` is
 * the one that it names, as found at module_path; `begin` has flags,
 * context, max_rate and what is known of the file. NULL with err set: the log is
 * full.
 */
struct ras_session *sesslog_add(struct buffer *buffer, const struct tdf *tdf,
				const bool *picked, const char *path,
				const struct tdf_module *module,
				const char *module_path,
				const struct ras_session *begin,
				struct error *err);

/* A point ends, now: RAS_POINT_*. Nothing happens when it has ended. */
void sesslog_point_end(struct ras_session *entry, uint32_t point,
		       uint16_t state);

/* Take the last one back: it never recorded. */
void sesslog_drop_last(struct buffer *buffer, struct ras_session *entry);

/* The entry of a session, to be changed; NULL: there is none. */
struct ras_session *sesslog_find(struct buffer *buffer, uint16_t index);

/* Forget all sessions. None is armed, and no record of theirs can be read. */
void sesslog_reset(struct buffer *buffer);

/* *tdf = the file at the session's path; NULL: it is gone, or has been compiled anew
 * with other tracepoints. The caller closes it. 0 or -ENOMEM. */
int session_tdf_open(const struct session *session, struct tdf **tdf);

/* Ending sessions: recording stops at once, the probes go, the figures stay. */

/* Set the state word of a session's directory; 0 or a negative errno. */
int retire_state_set(const char *dir, uint32_t state, struct error *err);

/* Disarm an armed session. */
int retire_session(const struct run_dir *run, struct buffer *buffer,
		   const struct session *session, struct error *err);

/*
 * Take the points of an armed session off for which off[] is true and that are
 * armed: their links go, and the session log says RAS_POINT_* `state`. With
 * RAS_POINT_OFF, a session that has no armed point left is over.
 */
int retire_points(const struct run_dir *run, struct buffer *buffer,
		  const struct session *session, const bool *off,
		  uint16_t state, struct error *err);

/* Remove everything in the run directory, whatever made it. */
void retire_everything(struct run_dir *run);
/* The same where nothing is armed or waits: only a buffer is there, without a
 * record. */
void retire_unused(struct run_dir *run);

/*
 * Take the lock of the run directory and remove what a killed trace left
 * there. With `create` the bpffs is mounted when it isn't. 0, or a negative
 * errno with err set: -ENOENT when it isn't mounted.
 */
int run_dir_open(struct run_dir *run, bool create, struct error *err);
void run_dir_close(struct run_dir *run);

/* Is that the name of a private run directory whose process is gone? */
bool run_dir_is_left(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Writing the session log of the buffer. The run directory's lock is held. */
#ifndef TRACE_SESSLOG_H
#define TRACE_SESSLOG_H

#include "lib/buffer/buffer.h"
#include "lib/buffer/session.h"
#include "lib/formats/tdf.h"

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

/* Points that are armed, as long as the session is. */
uint32_t sesslog_points_armed(const struct ras_session *entry);

/* Take the last one back: it never recorded. */
void sesslog_drop_last(struct buffer *buffer, struct ras_session *entry);

/* The entry of a session, to be changed; NULL: there is none. */
struct ras_session *sesslog_find(struct buffer *buffer, uint16_t index);

/* Forget all sessions. None is armed, and no record of theirs can be read. */
void sesslog_reset(struct buffer *buffer);

/* The TDF that a session was armed with. */

/* *tdf = the file at the session's path; NULL: it is gone, or has been compiled anew
 * with other tracepoints. The caller closes it. 0 or -ENOMEM. */
int session_tdf_open(const struct session *session, struct tdf **tdf);

#endif

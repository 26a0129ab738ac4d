/* SPDX-License-Identifier: GPL-2.0 */
/* Writing the session log of the buffer. The run directory's lock is held. */
#ifndef TRACE_SESSLOG_H
#define TRACE_SESSLOG_H

#include "../lib/buffer.h"
#include "../lib/tdf.h"

/* Append a session that is off yet. NULL with err set: the log is full. */
struct ras_session *sesslog_add(struct buffer *buffer, const struct tdf *tdf,
				const char *path, const char *module,
				uint32_t flags, struct error *err);

/* Take the last one back: it never recorded. */
void sesslog_drop_last(struct buffer *buffer, struct ras_session *entry);

/* The entry of a session, to be changed; NULL: there is none. */
struct ras_session *sesslog_find(struct buffer *buffer, uint16_t index);

/* Forget all sessions. None is armed, and no record of theirs can be read. */
void sesslog_reset(struct buffer *buffer);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What a live session has added up in the kernel so far. */
#ifndef LIB_AGGREGATE_LIVE_H
#define LIB_AGGREGATE_LIVE_H

#include "session.h"

/*
 * The payload of RAS_CHUNK_AGGREGATES: *data, which the caller frees; NULL: the
 * session has no aggregates, or they are gone. 0, or a negative errno with err
 * set.
 */
int aggregate_live_copy(const struct session *session,
			const struct buffer *buffer, void **data, size_t *size,
			struct error *err);

#endif

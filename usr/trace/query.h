/* SPDX-License-Identifier: GPL-2.0 */
/* What `trace query` prints, from one reading of buffer and sessions. */
#ifndef TRACE_QUERY_H
#define TRACE_QUERY_H

#include "../lib/session.h"
#include "../lib/tdf.h"
#include "figures.h"

struct query {
	const struct buffer *buffer;	/* NULL: there is none */
	struct session_list list;
	struct figures figures;
	struct tdf **tdfs;	/* per session; NULL: the file is gone or has
				 * been compiled anew */
};

void query_print_text(const struct query *query);
void query_print_json(const struct query *query);

const char *query_state_name(const struct session *session);
const char *query_mode_name(const struct ras_session *entry);
const char *query_preempt_name(const struct ras_session *entry);

#endif

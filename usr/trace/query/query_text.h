/* SPDX-License-Identifier: GPL-2.0 */
/* What was read, as text for people. */
#ifndef TRACE_QUERY_TEXT_H
#define TRACE_QUERY_TEXT_H

#include "query_read.h"

void query_print_text(const struct query *query);

/* "  without a hit: 3, 5-9", of one session; nothing when all were hit. */
void query_print_without_hit(const struct query *query, size_t session);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What was read, as a JSON object. */
#ifndef TRACE_QUERY_EXPORT_H
#define TRACE_QUERY_EXPORT_H

#include "query_read.h"

/* 0 or -ENOMEM with err set. */
int query_print_json(const struct query *query, struct error *err);

/* What was read, as OpenMetrics text. */

void query_print_metrics(const struct query *query);

#endif

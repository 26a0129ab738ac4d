/* SPDX-License-Identifier: GPL-2.0 */
/* What was read, as OpenMetrics text. */
#ifndef TRACE_QUERY_METRICS_H
#define TRACE_QUERY_METRICS_H

#include "query_read.h"

void query_print_metrics(const struct query *query);

#endif

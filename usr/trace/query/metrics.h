/* SPDX-License-Identifier: GPL-2.0 */
/* Parts of OpenMetrics text, and what was added up in the kernel. */
#ifndef TRACE_METRICS_H
#define TRACE_METRICS_H

#include "query_read.h"

#define METRICS_PREFIX	"rastrace_"

void metrics_family(const char *name, const char *type, const char *unit,
		    const char *help);
/* {name="value", or with a comma before it */
void metrics_label(const char *name, const char *value, bool first);

/* A family for each kind of aggregate that there is. */
void metrics_aggregates(const struct query *query);

#endif

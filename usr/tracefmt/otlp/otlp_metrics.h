/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a session has added up in the kernel as metrics: COUNT is a monotonic sum,
 * SUM one that may decrease, MIN and MAX are gauges, HIST is a histogram, all since
 * the session was armed or cleared.
 *
 * A histogram's bounds are explicit ones. In OTLP's exponential histograms a power of
 * two is the last value of a bucket; in ours it is the first.
 */
#ifndef TRACEFMT_OTLP_METRICS_H
#define TRACEFMT_OTLP_METRICS_H

#include "otlp_batch.h"

/* A batch that becomes full is given out. 0 or -ENOMEM. */
int otlp_metrics_add(struct otlp_batch *batch, const struct trace *trace,
		     const struct trace_session *session, struct text *text);

#endif

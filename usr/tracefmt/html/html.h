/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One page (html/) with everything in it: the rows of the newest events
 * (html_store.h), the tracepoints, how many events there were over time, and
 * the figures. It is written at the end; until then memory stays the same but
 * for the tracepoints.
 */
#ifndef TRACEFMT_HTML_H
#define TRACEFMT_HTML_H

#include "tracefmt/pair/pairing.h"
#include "html_density.h"
#include "html_points.h"
#include "html_store.h"
#include "tracefmt/output/output.h"

struct html {
	struct output_settings settings;	/* for the text of events */
	struct pairing *pairing;
	struct html_store store;
	struct html_points points;
	struct html_density density;
	struct text body, values;	/* of one event */
	uint64_t given;		/* events */
	int64_t latest;		/* ns since output->start */
};

/*
 * An event as an array, at the end of the store:
 *
 *	[number, ns since output->start, trace, CPU, pid, tid, comm, point,
 *	 flags (EVENT_*), length, role (PAIR_*), depth, latency, number of the
 *	 PRE, text, "[value, ...]"]
 *
 * Values as json_field.h has them, in the order of the point's fields; the last
 * ones may be missing. 0, or a negative errno.
 */
int html_row_add(struct output *output, const struct event *event,
		 const struct pair_seen *seen, struct scratch *scratch);
/* What isn't of one event, as a JSON object. 0, or a negative errno; some are
 * kept in text only. */
int html_meta_add(const struct output *output, struct text *text);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Spans, log records and data points of metrics by the process or the session that
 * they are of (a resource), until there are enough for a request. */
#ifndef TRACEFMT_OTLP_BATCH_H
#define TRACEFMT_OTLP_BATCH_H

#include "lib/read/read.h"
#include "otlp_message.h"
#include "otlp_send.h"

enum otlp_signal { OTLP_SPANS, OTLP_LOGS, OTLP_METRICS, OTLP_SIGNALS };

struct otlp_batch {
	bool is_json;
	struct otlp_sender *sender;	/* NULL: the text is the output */
	struct otlp_resource *resources;
	size_t count, room;
	struct key_map by_origin;
	size_t items[OTLP_SIGNALS];	/* in the batch */
	struct otlp_message request;
	/* what became of those before */
	bool stops;		/* the first failure ends the sending: */
	bool stopped;
	uint64_t arrived[OTLP_SIGNALS], lost[OTLP_SIGNALS];
	char reason[512];	/* of the first loss */
};

/* Where to put an item of a process; NULL: no memory. */
struct otlp_message *otlp_batch_add(struct otlp_batch *batch,
				    enum otlp_signal signal,
				    const struct trace *trace, uint32_t pid,
				    int64_t time);
/* Where to put metrics of a session, which the caller counts in items. */
struct otlp_message *otlp_batch_add_session(struct otlp_batch *batch,
					    const struct trace *trace,
					    const struct trace_session *session);
/* It has enough for a request. */
bool otlp_batch_is_full(const struct otlp_batch *batch);
/* Send it, or append it to text. 0 or -ENOMEM. */
int otlp_batch_give(struct otlp_batch *batch, struct text *text);
void otlp_batch_free(struct otlp_batch *batch);

#endif

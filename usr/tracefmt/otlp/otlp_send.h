/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sends OTLP over HTTP, with libcurl, which is loaded when it is needed. A request
 * is repeated after 429, 502, 503, 504 and failures of the network, later each
 * time, or when the server says; for at most OTLP_TRIES times the timeout of a
 * request. OTEL_EXPORTER_OTLP_TIMEOUT has that, in ms, and
 * OTEL_EXPORTER_OTLP_HEADERS more headers, as name=value,name=value.
 */
#ifndef TRACEFMT_OTLP_SEND_H
#define TRACEFMT_OTLP_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

#define OTLP_TIMEOUT	10000	/* ms, if none is given */
#define OTLP_TRIES	6

struct otlp_sender;

/* NULL, with err set. */
struct otlp_sender *otlp_sender_open(const char *url, struct error *err);

/* What became of what was sent. */
struct otlp_sent {
	bool failed;		/* nothing of it arrived */
	uint64_t rejected;	/* by the server, of what arrived */
	const char *reason;	/* of the newest failure or rejection; "" */
};

/* path: "v1/traces". After a request that failed for good others are tried once,
 * until one arrives. */
struct otlp_sent otlp_send(struct otlp_sender *sender, const char *path,
			   const void *body, size_t size);
void otlp_sender_close(struct otlp_sender *sender);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What an OTLP server answers, in protobuf. Hostile. */
#ifndef TRACEFMT_OTLP_RESPONSE_H
#define TRACEFMT_OTLP_RESPONSE_H

#include <stddef.h>
#include <stdint.h>

#define OTLP_REASON_MAX	256

struct otlp_response {
	int64_t rejected;	/* spans or log records of the request */
	char reason[OTLP_REASON_MAX];	/* fit for a terminal; "" */
};

/* The response to a request that was accepted (200), perhaps in part. */
void otlp_response_read(struct otlp_response *response, const uint8_t *data,
			size_t n);
/* To one that was not: a google.rpc.Status. */
void otlp_status_read(struct otlp_response *response, const uint8_t *data,
		      size_t n);

#endif

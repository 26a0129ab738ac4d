/* SPDX-License-Identifier: GPL-2.0 */
/* The record of OTEP 4947, written from its table. */
#ifndef SELFTESTS_OTEL_RECORD_H
#define SELFTESTS_OTEL_RECORD_H

#include <stdint.h>

struct otel_record {
	uint8_t trace_id[16], span_id[8], valid, flags;
	uint16_t attributes_size;
} __attribute__((packed, aligned(2)));

#endif

// SPDX-License-Identifier: GPL-2.0
/* A library (and a part of otel_static) that has the variable. */
#include "otel_record.h"

__attribute__((visibility("default")))
__thread struct otel_record *volatile otel_thread_ctx_v1;

void otel_publish(struct otel_record *record)
{
	otel_thread_ctx_v1 = record;
}

// SPDX-License-Identifier: GPL-2.0
/* A library that uses the variable if there is one; there is none. */
#include <stddef.h>
#include "otel_record.h"

extern __thread struct otel_record *volatile otel_thread_ctx_v1
	__attribute__((weak, tls_model("initial-exec")));

void otel_publish(struct otel_record *record)
{
	if (record && record->flags == 2)
		otel_thread_ctx_v1 = record;
}

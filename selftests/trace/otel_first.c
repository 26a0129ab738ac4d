// SPDX-License-Identifier: GPL-2.0
/* The same library; the variable is at the beginning of the block. The relocation of
 * another one, which has no symbol, comes first. */
#include "otel_record.h"

static __thread struct otel_record *volatile other
	__attribute__((tls_model("global-dynamic")));
__attribute__((visibility("default")))
__thread struct otel_record *volatile otel_thread_ctx_v1;
static struct otel_record wrong = { .trace_id = "wrong", .valid = 1 };

void otel_publish(struct otel_record *record)
{
	other = &wrong;
	otel_thread_ctx_v1 = record;
}

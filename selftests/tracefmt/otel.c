// SPDX-License-Identifier: GPL-2.0
/*
 * Publishes a span of its own as OpenTelemetry's OTEP 4947 says: without one it
 * calls outer(1), in span cd... outer(5) and outer(7), in which span ee... begins.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define KEEP	__attribute__((noinline, noclone, used))

struct otel_thread_ctx {
	uint8_t trace_id[16], span_id[8], valid, flags;
	uint16_t size;
};

__thread struct otel_thread_ctx *otel_thread_ctx_v1;
static struct otel_thread_ctx ctx = { .valid = 1 };

int KEEP inner(int n)
{
	return n + 1;
}

int KEEP outer(int n)
{
	if (n == 7)
		memset(ctx.span_id, 0xee, sizeof(ctx.span_id));
	return inner(n) + 1;
}

int main(void)
{
	int sum = outer(1);

	memset(ctx.trace_id, 0xab, sizeof(ctx.trace_id));
	memset(ctx.span_id, 0xcd, sizeof(ctx.span_id));
	otel_thread_ctx_v1 = &ctx;
	sum += outer(5) + outer(7);
	printf("%d\n", sum);
	return 0;
}

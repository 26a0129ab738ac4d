/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A span of time, --since to --until:
 *
 *	2026-02-03 18:07:32.5	local time, or UTC with --utc; a T between,
 *				a Z at the end (UTC), no seconds, no time of day
 *	18:07:32.5		on the day of the first event; as the end the
 *				day after, when it would be before the beginning
 *	@1770142052.5		seconds since 1970
 *	+1.5			seconds after the first event
 *	-2			seconds before the last event
 *	boot+123.4		seconds since the machine was started
 */
#ifndef TRACEFMT_SPAN_H
#define TRACEFMT_SPAN_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"
#include "lib/read/read.h"

enum span_kind {
	SPAN_OPEN,		/* no bound */
	SPAN_WALL,		/* ns since 1970 */
	SPAN_LOCAL,		/* ns since 1970, were it UTC; or UTC */
	SPAN_DAY,		/* ns since midnight, local or UTC */
	SPAN_FIRST,		/* ns after the first event */
	SPAN_LAST,		/* ns before the last event */
	SPAN_BOOT,		/* ns of the boot clock */
};

struct span_bound {
	enum span_kind kind;
	int64_t ns;
};

/* Both bounds belong to it. */
struct time_span {
	struct span_bound since, until;
};

/* 0, or -EINVAL with err set. */
int span_parse(struct span_bound *bound, const char *text,
		 struct error *err);
/* The first event is known: LOCAL, DAY and FIRST become WALL. */
void span_begin(struct time_span *span, int64_t first, bool utc);
/* Is it in the span? A bound of kind LAST is ignored. */
bool span_has(const struct time_span *span, const struct event *event);
/* It is so late that no later event can be in there. */
bool span_passed(const struct time_span *span, const struct event *event);

#endif

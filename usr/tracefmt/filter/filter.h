/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which events are given out: every option given must hold (several values of
 * one option: one of them). --field and --text look at the data and come last.
 */
#ifndef TRACEFMT_FILTER_H
#define TRACEFMT_FILTER_H

#include <stdbool.h>
#include "lib/error.h"
#include "lib/read/read.h"
#include "tracefmt/output/output.h"
#include "order.h"

struct filter;

/* NULL: no memory. */
struct filter *filter_open(void);
void filter_close(struct filter *filter);

/*
 * Options with their values, as on the command line; 0, or -EINVAL with err
 * set, which names the place in the value.
 *
 *	major minor pid tid cpu event	numbers and ranges: 5,7-9,0x10-0x1f
 *	group type			names or numbers, with commas
 *	comm				names, * and ? match
 *	since until			"18:07:32.5", "2026-02-03 18:07",
 *					"+1.5" (s after the first event), "-2"
 *					(s before the last one: of files only),
 *					"boot+123.4" (s of the boot clock)
 *	field				an expression (expression_parse.h)
 *	text				a string in the printed text, or /regex/
 */
int filter_add(struct filter *filter, const char *option, const char *value,
	       struct error *err);

/* Nothing was asked for: all events hold. */
bool filter_empty(const struct filter *filter);
/* What of the choice only the trace's end decides is left to the order. */
void filter_order(const struct filter *filter, struct order_settings *order);
/* The stream has read its beginnings: times that are relative to the trace's
 * first or last event are known now. */
int filter_start(struct filter *filter, const struct stream *stream,
		 const struct output_settings *settings, struct error *err);
/* Called by one thread, in the order of time. 1: the event was asked for; 0: it
 * was not; -ENOMEM. scratch is used. */
int filter_holds(struct filter *filter, const struct event *event,
		 struct scratch *scratch);
/* An expression is about calls (expression_parse.h). */
bool filter_is_of_calls(const struct filter *filter);
/* Events were left out inside of threads: calls can't be matched. */
bool filter_splits(const struct filter *filter);
/* It leaves out what is before a time. */
bool filter_has_since(const struct filter *filter);
/* The same as filter_holds() for a call: its entry or its exit holds, and an
 * expression does for both together. */
int filter_holds_call(struct filter *filter, const struct pair_call *call);
/* Events left out because no TFF entry has their group, types or fields. */
uint64_t filter_undecided(const struct filter *filter);
/* No later event can hold (a window has passed, the numbers are through). */
bool filter_done(const struct filter *filter, const struct event *event);
/*
 * What to report after the last event, as the i-th thing: 1 with `note`
 * set, 2 when it is of a name that no event has; 0: nothing; -1: there is no
 * more.
 */
int filter_report(const struct filter *filter, size_t i, struct error *note);

#endif

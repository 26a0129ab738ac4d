/* SPDX-License-Identifier: GPL-2.0 */
/* What the options that select events ask for: numbers, texts, names and times. */
#ifndef TRACEFMT_CHOICE_H
#define TRACEFMT_CHOICE_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "lib/read/read.h"

struct number_range {
	uint64_t first, last;
};

/* "5,7-9,0x10-0x1f", "100-" (and all above): ascending, with gaps between
 * them. */
struct ranges {
	struct number_range *items;
	size_t count;
};

/* Add the list's numbers, none above `most`. 0, or a negative errno with err
 * set and the ranges as they were. */
int ranges_add(struct ranges *ranges, const char *list, uint64_t most,
	       struct error *err);
bool ranges_have(const struct ranges *ranges, uint64_t number);
void ranges_free(struct ranges *ranges);

/* What is looked for in an event's text: a string, or a regular expression
 * between slashes, where a final "i" ignores case. */
struct pattern {
	const char *text;	/* lives as long as the value of the option */
	regex_t *regex;		/* NULL: search the text itself */
};

struct patterns {
	struct pattern *items;
	size_t count;
};

/* 0, or a negative errno with err set. */
int patterns_add(struct patterns *patterns, const char *text,
		 struct error *err);
/* Is one of them there? A zero follows the text. */
bool patterns_match(const struct patterns *patterns, const char *text,
		    size_t length);
void patterns_free(struct patterns *patterns);

/* Groups and types by name or number, and names of processes. */
struct name {
	char *text;
	bool met;		/* a section of an event calls a group or type
				 * so */
};

struct name_filter {
	struct name *items;
	size_t count;
};

/* Add a name, or a list with commas. 0, or a negative errno with err set. */
int name_filter_add(struct name_filter *names, const char *name,
		    struct error *err);
int name_filter_add_list(struct name_filter *names, const char *list,
			 struct error *err);
void name_filter_free(struct name_filter *names);
/*
 * Is one of the names (any, when there are none) that of the point's group, of
 * one of its types, of the event's thread or process? Groups and types as
 * written or in the other case, or their numbers; the third ones with * (any
 * characters) and ? (one).
 */
bool name_filter_have_group(struct name_filter *names,
			    const struct match_point *point);
bool name_filter_have_type(struct name_filter *names,
			   const struct match_point *point);
bool name_filter_have_comm(const struct name_filter *names,
			   const struct event *event);
/* Is the i-th a group's or type's name that no section had? */
bool name_filter_unknown(const struct name_filter *names, size_t i);

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

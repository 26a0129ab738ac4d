// SPDX-License-Identifier: GPL-2.0
#include "span.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "lib/read/read.h"

#define SECOND		1000000000LL
#define SECONDS_MOST	(INT64_MAX / SECOND / 4)
#define DAY		(86400 * SECOND)

/* "12.5" as ns; the end, NULL: that's none */
static const char *seconds_parse(const char *p, int64_t *ns)
{
	int64_t seconds = 0, unit = SECOND / 10, fraction = 0;
	const char *start = p;

	for (; isdigit((unsigned char)*p); p++) {
		seconds = 10 * seconds + (*p - '0');
		if (seconds > SECONDS_MOST)
			return NULL;
	}
	if (p == start)
		return NULL;
	if (*p == '.') {
		for (p++; isdigit((unsigned char)*p); p++, unit /= 10)
			fraction += unit * (*p - '0');
	}
	*ns = seconds * SECOND + fraction;
	return p;
}

/* Exactly `digits` of them. */
static const char *digits_parse(const char *p, int digits, int most,
				int *number)
{
	*number = 0;
	for (; digits; digits--, p++) {
		if (!isdigit((unsigned char)*p))
			return NULL;
		*number = 10 * *number + (*p - '0');
	}
	return *number <= most ? p : NULL;
}

/* "18:07", "18:07:32.5" in ns since midnight */
static const char *day_time_parse(const char *p, int64_t *ns)
{
	int64_t seconds = 0;
	int hour, minute;

	p = digits_parse(p, p[0] && p[1] == ':' ? 1 : 2, 23, &hour);
	if (!p || *p != ':')
		return NULL;
	p = digits_parse(p + 1, 2, 59, &minute);
	if (p && *p == ':')
		p = seconds_parse(p + 1, &seconds);
	if (!p || seconds >= 61 * SECOND)
		return NULL;
	*ns = (hour * 60 + minute) * 60 * SECOND + seconds;
	return p;
}

/* "2026-02-03", in ns since 1970 */
static const char *date_parse(const char *p, int64_t *ns)
{
	struct tm tm = { 0 }, same;
	int year, month = 0;
	time_t t;

	p = digits_parse(p, 4, 2261, &year);
	if (p && *p == '-')
		p = digits_parse(p + 1, 2, 12, &month);
	if (p && *p == '-')
		p = digits_parse(p + 1, 2, 31, &tm.tm_mday);
	if (!p || p[-3] != '-')
		return NULL;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	same = tm;
	t = timegm(&same);
	if (same.tm_mon != tm.tm_mon || same.tm_mday != tm.tm_mday ||
	    year < 1970)
		return NULL;
	*ns = t * SECOND;
	return p;
}

static const char *distance_parse(const char *p, enum span_kind kind,
				  struct span_bound *bound)
{
	bound->kind = kind;
	p = seconds_parse(p, &bound->ns);
	return p && *p == 's' ? p + 1 : p;
}

static const char *bound_parse(const char *p, struct span_bound *bound)
{
	int64_t day;

	switch (*p) {
	case '+':
		return distance_parse(p + 1, SPAN_FIRST, bound);
	case '-':
		return distance_parse(p + 1, SPAN_LAST, bound);
	case '@':
		return distance_parse(p + 1, SPAN_WALL, bound);
	case 'b':
		return strncmp(p, "boot+", 5) ? NULL :
		       distance_parse(p + 5, SPAN_BOOT, bound);
	}
	if (strnlen(p, 5) == 5 && p[4] == '-') {
		/* A date, then the time of day. */
		day = 0;
		p = date_parse(p, &bound->ns);
		if (!p)
			return NULL;
		if (*p == ' ' || *p == 'T') {
			p = day_time_parse(p + 1, &day);
			if (!p)
				return NULL;
		}
		bound->ns += day;
		bound->kind = SPAN_LOCAL;
		if (*p == 'Z') {
			bound->kind = SPAN_WALL;
			p++;
		}
		return p;
	}
	bound->kind = SPAN_DAY;
	return day_time_parse(p, &bound->ns);
}

int span_parse(struct span_bound *bound, const char *text,
		 struct error *err)
{
	const char *p = bound_parse(text, bound);

	if (p && !*p && (bound->kind != SPAN_LAST || bound->ns))
		return 0;
	error_set(err, -EINVAL, "'%s' is no time", text);
	error_hint(err, "times are 18:07:32.5, '2026-02-03 18:07', +1.5 (seconds after the first event), "
		   "-2 (seconds before the last one), boot+123.4, @1770142052");
	return -EINVAL;
}

/* ---- from times to ns ---- */

/* A trace's times may be any: what is too far away is at the end of time. */
static int64_t span_sum(int64_t a, int64_t b)
{
	int64_t value;

	if (!__builtin_add_overflow(a, b, &value))
		return value;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

static int64_t span_ns(time_t second)
{
	int64_t value;

	if (!__builtin_mul_overflow(second, SECOND, &value))
		return value;
	return second < 0 ? INT64_MIN : INT64_MAX;
}

/* What the clock on the wall shows as `ns`. */
static int64_t wall_of_local(int64_t ns, bool utc)
{
	time_t second = ns / SECOND;
	struct tm tm;

	if (utc || !gmtime_r(&second, &tm))
		return ns;
	tm.tm_isdst = -1;
	return span_sum(span_ns(mktime(&tm)), ns % SECOND);
}

/* The midnight before, as the clock on the wall shows it. */
static int64_t day_of(int64_t time, bool utc)
{
	time_t second = time / SECOND - (time % SECOND < 0);
	struct tm tm;

	if (!(utc ? gmtime_r(&second, &tm) : localtime_r(&second, &tm)))
		return 0;
	tm.tm_sec = tm.tm_min = tm.tm_hour = 0;
	return span_ns(timegm(&tm));
}

static void bound_begin(struct span_bound *bound, int64_t first, bool utc,
			const struct span_bound *after)
{
	int64_t day = day_of(first, utc), ns = bound->ns;

	switch (bound->kind) {
	case SPAN_LOCAL:
		bound->ns = wall_of_local(ns, utc);
		break;
	case SPAN_DAY:
		bound->ns = wall_of_local(span_sum(day, ns), utc);
		if (after && bound->ns < (after->kind == SPAN_WALL ?
					   after->ns : first))
			bound->ns = wall_of_local(span_sum(day, DAY + ns), utc);
		break;
	case SPAN_FIRST:
		bound->ns = span_sum(first, ns);
		break;
	default:
		return;
	}
	bound->kind = SPAN_WALL;
}

void span_begin(struct time_span *span, int64_t first, bool utc)
{
	bound_begin(&span->since, first, utc, NULL);
	bound_begin(&span->until, first, utc, &span->since);
}

/* ---- events ---- */

/* Below 0: it is before the bound. */
static int bound_compare(const struct span_bound *bound,
			 const struct event *event)
{
	uint64_t boot = event->record->time;

	if (bound->kind == SPAN_BOOT)
		return boot < (uint64_t)bound->ns ? -1 :
		       boot > (uint64_t)bound->ns;
	return event->time < bound->ns ? -1 : event->time > bound->ns;
}

static bool is_open(const struct span_bound *bound)
{
	return bound->kind == SPAN_OPEN || bound->kind == SPAN_LAST;
}

bool span_has(const struct time_span *span, const struct event *event)
{
	return (is_open(&span->since) ||
		bound_compare(&span->since, event) >= 0) &&
	       (is_open(&span->until) ||
		bound_compare(&span->until, event) <= 0);
}

/* Of several machines each has its own boot clock. */
bool span_passed(const struct time_span *span, const struct event *event)
{
	return span->until.kind == SPAN_WALL &&
	       event->time > span_sum(span->until.ns, STREAM_WINDOW);
}

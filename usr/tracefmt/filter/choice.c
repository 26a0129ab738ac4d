// SPDX-License-Identifier: GPL-2.0
#include "choice.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include "lib/array.h"

/* ---- numbers ---- */

/* "5", "0x10" at p: decimal, also with leading zeros, or hexadecimal; the end,
 * or p when there is none. Too large ones are UINT64_MAX. */
static const char *ranges_number(const char *p, uint64_t *number)
{
	bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X') &&
		   isxdigit((unsigned char)p[2]);
	char *end;

	if (!isdigit((unsigned char)*p))
		return p;
	*number = strtoull(p, &end, hex ? 16 : 10);
	return end;
}

static int range_wrong(const char *list, const char *part, const char *why,
		       struct error *err)
{
	int length = strcspn(part, ",");

	error_set(err, -EINVAL, "'%.*s' %s", length, part, why);
	error_hint(err, "at character %zu of '%s'; numbers and ranges are meant: 5,7-9,0x10-0x1f,100-",
		   part - list + 1, list);
	return -EINVAL;
}

/* One part of the list; NULL: err is set. */
static const char *ranges_parse(const char *list, const char *part,
				uint64_t most, struct number_range *range,
				struct error *err)
{
	const char *p = ranges_number(part, &range->first), *end;

	range->last = range->first;
	if (p == part) {
		range_wrong(list, part, "is no number", err);
		return NULL;
	}
	if (*p == '-') {
		range->last = most;
		end = ranges_number(++p, &range->last);
		p = end;
	}
	if (*p && *p != ',')
		range_wrong(list, part, "is no number or range", err);
	else if (range->first > most || range->last > most)
		range_wrong(list, part, "is too large", err);
	else if (range->first > range->last)
		range_wrong(list, part, "ends before it begins", err);
	else
		return p;
	return NULL;
}

static int ranges_compare(const void *a, const void *b)
{
	const struct number_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

int ranges_add(struct ranges *ranges, const char *list, uint64_t most,
	       struct error *err)
{
	size_t count = ranges->count;
	const char *p = list;
	size_t n;

	for (;;) {
		struct number_range *items =
			reallocarray(ranges->items, count + 1, sizeof(*items));

		if (!items)
			return error_no_memory(err);
		ranges->items = items;
		p = ranges_parse(list, p, most, &items[count], err);
		if (!p)
			return -EINVAL;
		count++;
		if (!*p++)
			break;
	}
	ranges->count = count;
	n = 0;
	qsort(ranges->items, ranges->count, sizeof(*ranges->items),
	      ranges_compare);
	for (size_t i = 1; i < ranges->count; i++) {
		struct number_range *last = &ranges->items[n];
		const struct number_range *next = &ranges->items[i];

		if (last->last != UINT64_MAX && next->first > last->last + 1)
			ranges->items[++n] = *next;
		else if (next->last > last->last)
			last->last = next->last;
	}
	ranges->count = n + 1;
	return 0;
}

bool ranges_have(const struct ranges *ranges, uint64_t number)
{
	size_t n = array_count_upto(ranges->items, ranges->count,
				    sizeof(*ranges->items), number);

	return n && number <= ranges->items[n - 1].last;
}

void ranges_free(struct ranges *ranges)
{
	free(ranges->items);
	*ranges = (struct ranges){ 0 };
}

/* ---- texts ---- */

/* The slash that ends /REGEX/; NULL: it is no regular expression. */
static const char *regex_end(const char *text)
{
	const char *end = strrchr(text, '/');

	if (*text != '/' || end == text)
		return NULL;
	return !end[1] || !strcmp(end + 1, "i") ? end : NULL;
}

static int pattern_regex_make(regex_t **regex, const char *text,
			      const char *end, struct error *err)
{
	char *copy = strndup(text + 1, end - text - 1), why[128];
	int flags = REG_EXTENDED | REG_NEWLINE | (end[1] ? REG_ICASE : 0);
	int code;

	*regex = malloc(sizeof(**regex));
	if (!copy || !*regex) {
		free(copy);
		free(*regex);
		return error_no_memory(err);
	}
	code = regcomp(*regex, copy, flags);
	free(copy);
	if (!code)
		return 0;
	regerror(code, *regex, why, sizeof(why));
	free(*regex);
	return error_set(err, -EINVAL, "'%s': %s", text, why);
}

int patterns_add(struct patterns *patterns, const char *text,
		 struct error *err)
{
	struct pattern *items = reallocarray(patterns->items,
					     patterns->count + 1,
					     sizeof(*items));
	struct pattern pattern = { .text = text };
	const char *end = regex_end(text);
	int code;

	if (!items)
		return error_no_memory(err);
	patterns->items = items;
	if (!*text)
		return error_set(err, -EINVAL, "a text is missing");
	code = end ? pattern_regex_make(&pattern.regex, text, end, err) : 0;
	if (!code)
		items[patterns->count++] = pattern;
	return code;
}

static bool pattern_matches(const struct pattern *pattern, const char *text,
			    size_t length)
{
	regmatch_t range = { .rm_eo = length };

	if (!pattern->regex)
		return memmem(text, length, pattern->text,
			      strlen(pattern->text));
	return !regexec(pattern->regex, text, 1, &range, REG_STARTEND);
}

bool patterns_match(const struct patterns *patterns, const char *text,
		    size_t length)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (pattern_matches(&patterns->items[i], text, length))
			return true;
	return false;
}

void patterns_free(struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++) {
		if (patterns->items[i].regex)
			regfree(patterns->items[i].regex);
		free(patterns->items[i].regex);
	}
	free(patterns->items);
	*patterns = (struct patterns){ 0 };
}

/* ---- names ---- */

#define COMM_MAX	16

static int name_filter_put(struct name_filter *names, const char *name,
			   size_t length, struct error *err)
{
	struct name *items = reallocarray(names->items, names->count + 1,
					  sizeof(*items));
	char *text = strndup(name, length);

	if (items)
		names->items = items;
	if (!items || !text) {
		free(text);
		return error_no_memory(err);
	}
	items[names->count++] = (struct name){ .text = text };
	return 0;
}

int name_filter_add(struct name_filter *names, const char *name,
		    struct error *err)
{
	return *name ? name_filter_put(names, name, strlen(name), err) :
	       error_set(err, -EINVAL, "a name is missing");
}

int name_filter_add_list(struct name_filter *names, const char *list,
			 struct error *err)
{
	int code = 0;

	for (const char *p = list; !code; p++) {
		size_t length = strcspn(p, ",");

		if (!length)
			return error_set(err, -EINVAL,
					 "a name is missing at character %zu of '%s'",
					 p - list + 1, list);
		code = name_filter_put(names, p, length, err);
		p += length;
		if (!*p)
			break;
	}
	return code;
}

void name_filter_free(struct name_filter *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i].text);
	free(names->items);
	*names = (struct name_filter){ 0 };
}

/* ---- groups and types ---- */

/* Longer ones are cut where they are defined, too. */
static bool name_filter_is(const char *name, const char *defined)
{
	return !strncasecmp(name, defined, TDF_NAME_MAX) &&
	       strlen(defined) <= TDF_NAME_MAX;
}

static bool name_filter_number(const char *name, uint64_t *number)
{
	const char *end = ranges_number(name, number);

	return end != name && !*end;
}

/* What a section calls its groups, or its types, which are bits. */
struct definitions {
	const struct tdf_name *names;
	uint32_t count;
	bool bits;
};

/* A definition of that name is one of `value`. */
static bool name_defined(struct name *name, const struct tff *tff,
			 const struct definitions *defined, uint16_t value)
{
	bool has = false;

	for (uint32_t i = 0; i < defined->count; i++) {
		const struct tdf_name *d = &defined->names[i];

		if (!name_filter_is(name->text, tff_string(tff, d->name)))
			continue;
		name->met = true;
		has |= defined->bits ? d->id & value : d->id == value;
	}
	return has;
}

static bool names_have(struct name_filter *names,
		       const struct match_point *point,
		       const struct definitions *defined, uint16_t value)
{
	bool has = !names->count;
	uint64_t number;

	for (size_t i = 0; i < names->count; i++) {
		struct name *name = &names->items[i];

		if (name_filter_number(name->text, &number))
			has |= defined->bits ? number & value : number == value;
		else if (point->formatted)
			has |= name_defined(name, point->tff, defined, value);
	}
	return has;
}

bool name_filter_have_group(struct name_filter *names,
			    const struct match_point *point)
{
	struct definitions groups = { 0 };

	if (point->formatted) {
		groups.names = point->tff->groups +
			       point->section->first_group;
		groups.count = point->section->groups;
	}
	return names_have(names, point, &groups, point->armed ?
			  point->armed->group :
			  point->formatted ? point->entry->group : 0);
}

bool name_filter_have_type(struct name_filter *names,
			   const struct match_point *point)
{
	struct definitions types = { .bits = true };

	if (point->formatted) {
		types.names = point->tff->types + point->section->first_type;
		types.count = point->section->types;
	}
	return names_have(names, point, &types, point->armed ?
			  point->armed->type :
			  point->formatted ? point->entry->type : 0);
}

bool name_filter_unknown(const struct name_filter *names, size_t i)
{
	uint64_t number;

	return !names->items[i].met &&
	       !name_filter_number(names->items[i].text, &number);
}

/* ---- processes ---- */

static bool pattern_is(const char *pattern, const char *text, const char *end)
{
	const char *star = NULL, *again = NULL;

	while (text < end) {
		if (*pattern == '*') {
			star = ++pattern;
			again = text;
		} else if (*pattern && (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool comm_has(const struct name_filter *names, const char *comm)
{
	if (!comm)
		return false;
	for (size_t i = 0; i < names->count; i++)
		if (pattern_is(names->items[i].text, comm,
			       comm + strnlen(comm, COMM_MAX)))
			return true;
	return false;
}

bool name_filter_have_comm(const struct name_filter *names,
			   const struct event *event)
{
	return !names->count || comm_has(names, event_comm(event)) ||
	       comm_has(names, event_thread_comm(event));
}

/* ---- times ---- */

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

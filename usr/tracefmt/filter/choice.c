// SPDX-License-Identifier: GPL-2.0
#include "choice.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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
	struct context context;

	if (!names->count || comm_has(names, event_comm(event)))
		return true;
	if (!(event->point->context & RAS_CONTEXT_COMM))
		return false;
	context = context_find(event->record, event->point->context);
	return context.fixed && context.mask & RAS_CONTEXT_COMM &&
	       comm_has(names, (const char *)context.fixed);
}

// SPDX-License-Identifier: GPL-2.0
#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "lib/read/read.h"
#include "ranges.h"

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

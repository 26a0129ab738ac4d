// SPDX-License-Identifier: GPL-2.0
#include "ranges.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

const char *ranges_number(const char *p, uint64_t *number)
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

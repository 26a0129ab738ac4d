// SPDX-License-Identifier: GPL-2.0
#include "monitor.h"

#include <ctype.h>
#include <string.h>

/* Does the name so far end in the word `operator`? */
static bool after_operator(const char *begin, const char *at)
{
	const size_t length = strlen("operator");

	return at >= begin + length &&
	       !memcmp(at - length, "operator", length) &&
	       (at == begin + length ||
		!(isalnum((unsigned char)at[-(int)length - 1]) ||
		  at[-(int)length - 1] == '_'));
}

/* Of a bar at `at` behind `operator`: operator|, operator|=, or operator||,
 * which is known from a separator by its parameters. */
static const char *operator_end(const char *at, const char *end)
{
	bool two = end - at > 2 && at[1] == '|' &&
		   (at[2] == '(' || at[2] == '<');

	return at + (two ? 2 : 1);
}

static const char *name_end(const struct monitor_crawl *crawl, size_t *depth)
{
	const char *at = crawl->at;

	*depth = 0;
	while (at < crawl->end) {
		if (*at == '|' && after_operator(crawl->at, at)) {
			at = operator_end(at, crawl->end);
			continue;
		}
		if (*at == '|' && (!*depth || crawl->plain))
			break;
		if (*at == '(')
			++*depth;
		else if (*at == ')' && *depth)
			--*depth;
		at++;
	}
	return at;
}

static struct monitor_span span_trim(const char *begin, const char *end)
{
	while (begin < end && *begin == ' ')
		begin++;
	while (begin < end && end[-1] == ' ')
		end--;
	return (struct monitor_span){ begin, end - begin };
}

bool monitor_crawl_next(struct monitor_crawl *crawl, struct monitor_span *name)
{
	const char *end;
	size_t depth;

	if (crawl->at == crawl->end)
		return false;
	end = name_end(crawl, &depth);
	if (end == crawl->end && depth && !crawl->plain) {
		crawl->plain = true;
		end = name_end(crawl, &depth);
	}
	*name = span_trim(crawl->at, end);
	crawl->at = end < crawl->end ? end + 1 : end;
	return true;
}

// SPDX-License-Identifier: GPL-2.0
/* What the systems of a program have, by the tags of its memory tracker. */
#include "report.h"

#include <stdlib.h>

static void tag_add(struct report_tag *tag, const struct digest_site *site)
{
	digest_sum_merge(&tag->allocated, &site->allocated);
	digest_sum_merge(&tag->freed, &site->freed);
	digest_sum_merge(&tag->kept, &site->kept);
	digest_sum_merge(&tag->peak, &site->peak);
	tag->temporary += site->temporary;
}

static int tags_compare(const void *a, const void *b)
{
	const struct report_tag *x = a, *y = b;

	if (x->kept.bytes != y->kept.bytes)
		return x->kept.bytes < y->kept.bytes ? 1 : -1;
	if (x->allocated.bytes != y->allocated.bytes)
		return x->allocated.bytes < y->allocated.bytes ? 1 : -1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

/* Away with those of which nothing was allocated: all other strings. */
static size_t used_keep(struct report_tag *tags, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (tags[i].allocated.count)
			tags[kept++] = tags[i];
	return kept;
}

struct report_tag *report_tags(const struct digest *digest, size_t *count)
{
	const struct heap_trace *trace = digest->trace;
	size_t strings = trace->tagged ? trace->strings.count + 1 : 1;
	struct report_tag *tags = calloc(strings, sizeof(*tags));

	*count = 0;
	if (!tags || !trace->tagged)
		return tags;
	for (size_t i = 0; i < strings; i++)
		tags[i].tag = i;
	for (size_t i = 0; i < digest->site_count; i++)
		tag_add(&tags[heap_stack_tag(trace, i)], &digest->sites[i]);
	*count = used_keep(tags, strings);
	qsort(tags, *count, sizeof(*tags), tags_compare);
	return tags;
}

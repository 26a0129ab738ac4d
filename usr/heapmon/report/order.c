// SPDX-License-Identifier: GPL-2.0
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

double report_key_kept(const struct digest_site *site)
{
	return site->kept.bytes + site->kept.count / 1e6;
}

double report_key_peak(const struct digest_site *site)
{
	return site->peak.bytes + site->peak.count / 1e6;
}

double report_key_allocated(const struct digest_site *site)
{
	return site->allocated.count;
}

double report_key_temporary(const struct digest_site *site)
{
	return site->temporary;
}

struct by_key {
	const struct digest *digest;
	report_key key;
};

static int order_compare(const void *a, const void *b, void *context)
{
	const struct by_key *by = context;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double of_x = by->key(&by->digest->sites[x]);
	double of_y = by->key(&by->digest->sites[y]);

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return x < y ? -1 : x > y;
}

bool report_order_sites(const struct digest *digest, report_key key,
			struct report_order *order)
{
	struct by_key by = { digest, key };

	*order = (struct report_order){
		.items = calloc(digest->site_count + 1, sizeof(uint32_t)),
	};
	if (!order->items)
		return false;
	for (size_t i = 0; i < digest->site_count; i++)
		if (key(&digest->sites[i]) > 0)
			order->items[order->count++] = i;
	qsort_r(order->items, order->count, sizeof(uint32_t), order_compare,
		&by);
	return true;
}

const char *report_note(const struct digest *digest, unsigned int number,
			char *text, size_t size)
{
	const struct heap_trace *trace = digest->trace;
	unsigned int notes = 0;

	if (trace->lost == HEAP_LOST_UNKNOWN && notes++ == number)
		return "an unknown number of events is missing: blocks may be listed that were freed, and others be missing";
	if (trace->lost && trace->lost != HEAP_LOST_UNKNOWN &&
	    notes++ == number) {
		snprintf(text, size, "%" PRIu64
			 " events are missing: blocks may be listed that were freed, and others be missing",
			 trace->lost);
		return text;
	}
	if (trace->damaged && notes++ == number) {
		snprintf(text, size,
			 "the file could not be read in %" PRIu64 " places",
			 trace->damaged);
		return text;
	}
	if (trace->sample && notes++ == number) {
		snprintf(text, size, "a sample of the blocks, one in each %"
			 PRIu64 " bytes: figures are estimates by the weights of the blocks",
			 trace->sample);
		return text;
	}
	if (trace->min_size && notes++ == number) {
		snprintf(text, size, "blocks of less than %" PRIu64
			 " bytes were not recorded", trace->min_size);
		return text;
	}
	if ((trace->sample || trace->min_size) && notes++ == number)
		return "too many count as temporary: what was allocated between isn't all here";
	if (digest->sums && notes++ == number)
		return "a file of sums: it has no times, no peak and no threads";
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0
#include "top.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/safe_text.h"

const char *const top_sort_names[TOP_SORTS] = {
	"live", "blocks", "calls", "bytes", "temporary",
};

struct screen_row {
	uint32_t stack;
	struct digest_sum present;
	double calls, bytes;		/* per second */
	double temporary;		/* per cent */
	double key;
};

/* ---- numbers ---- */

static void bytes_text(char *text, size_t size, double bytes)
{
	static const char units[] = "BKMGTP";
	unsigned int unit = 0;

	while (bytes >= 9999.5 && units[unit + 1]) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, size, "%.*f%c", unit && bytes < 99.95 ? 1 : 0, bytes,
		 units[unit]);
}

static void count_text(char *text, size_t size, double count)
{
	static const char units[] = " kMGT";
	unsigned int unit = 0;

	while (count >= 99999.5 && units[unit + 1]) {
		count /= 1000;
		unit++;
	}
	snprintf(text, size, unit ? "%.0f%c" : "%.0f", count, units[unit]);
}

/* ---- lines ---- */

/* A line of the screen, not wider than it. */
static void screen_line_print(const struct top_screen *screen, const char *text)
{
	size_t length = strlen(text);
	char *safe;

	if (screen->columns && length > screen->columns)
		length = screen->columns;
	safe = malloc(4 * length + 1);
	if (safe)
		fwrite(safe, 1, safe_text_put(safe, text, length, false) - safe,
		       screen->out);
	free(safe);
	fputc('\n', screen->out);
}

static void screen_totals_print(const struct top_screen *screen,
				const struct top_feed *feed, double seconds)
{
	const struct digest *digest = &feed->digest;
	char live[16], peak[16], allocs[16], frees[16], rate[16], text[256];

	bytes_text(live, sizeof(live), digest->present.bytes);
	bytes_text(peak, sizeof(peak), digest->peak.bytes);
	snprintf(text, sizeof(text),
		 "live %s in %.0f blocks, peak %s; %.0f were there before",
		 live, digest->present.count, peak, digest->old.count);
	screen_line_print(screen, text);
	count_text(allocs, sizeof(allocs), (digest->allocated.count -
		   screen->allocated.count) / seconds);
	count_text(frees, sizeof(frees), (digest->freed.count -
		   screen->freed.count) / seconds);
	bytes_text(rate, sizeof(rate), (digest->allocated.bytes -
		   screen->allocated.bytes) / seconds);
	snprintf(text, sizeof(text),
		 "per second: %s allocations, %s releases, %s", allocs, frees,
		 rate);
	screen_line_print(screen, text);
}

static const char *where(const struct top_feed *feed, uint32_t stack)
{
	const char *text = NULL;

	if (stack < feed->where_count)
		text = feed->where[stack];
	return text ? text : "(unknown)";
}

static void screen_row_print(const struct top_screen *screen,
			     const struct top_feed *feed,
			     const struct screen_row *row)
{
	char live[16], blocks[16], calls[16], bytes[16];
	char text[1200];

	bytes_text(live, sizeof(live), row->present.bytes);
	count_text(blocks, sizeof(blocks), row->present.count);
	count_text(calls, sizeof(calls), row->calls);
	bytes_text(bytes, sizeof(bytes), row->bytes);
	snprintf(text, sizeof(text), "%7s %7s %7s %7s %5.0f  %s", live, blocks,
		 calls, bytes, row->temporary, where(feed, row->stack));
	screen_line_print(screen, text);
}

/* ---- rows ---- */

static double row_key(const struct screen_row *row, enum top_sort sort)
{
	switch (sort) {
	case TOP_BLOCKS:
		return row->present.count;
	case TOP_CALLS:
		return row->calls;
	case TOP_BYTES:
		return row->bytes;
	case TOP_TEMPORARY:
		return row->temporary;
	default:
		return row->present.bytes;
	}
}

static int screen_row_compare(const void *a, const void *b)
{
	const struct screen_row *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static void row_fill(struct screen_row *row, const struct top_screen *screen,
		     const struct digest_site *site, uint32_t stack,
		     double seconds)
{
	struct digest_sum before = { 0 };

	if (stack < screen->before_count)
		before = screen->before[stack];
	*row = (struct screen_row){
		.stack = stack, .present = site->present,
		.calls = (site->allocated.count - before.count) / seconds,
		.bytes = (site->allocated.bytes - before.bytes) / seconds,
	};
	if (site->allocated.count > 0)
		row->temporary = site->temporary * 100 / site->allocated.count;
	row->key = row_key(row, screen->sort);
}

static bool screen_remember(struct top_screen *screen,
			    const struct digest *digest, double now)
{
	struct digest_sum *before = reallocarray(screen->before,
						 digest->site_count + 1,
						 sizeof(*before));

	if (!before)
		return false;
	for (size_t i = 0; i < digest->site_count; i++)
		before[i] = digest->sites[i].allocated;
	screen->before = before;
	screen->before_count = digest->site_count;
	screen->allocated = digest->allocated;
	screen->freed = digest->freed;
	screen->time = now;
	return true;
}

bool top_screen_begin(struct top_screen *screen, const struct top_feed *feed,
		      double now)
{
	screen->begun = now;
	return screen_remember(screen, &feed->digest, now);
}

bool top_screen_print(struct top_screen *screen, const struct top_feed *feed,
		      double now)
{
	const struct digest *digest = &feed->digest;
	double seconds = now > screen->time ? now - screen->time : 1;
	struct screen_row *rows = calloc(digest->site_count + 1, sizeof(*rows));
	size_t count = 0;
	double elapsed;
	char text[256];
	char note[128];

	if (!rows)
		return false;
	elapsed = now - screen->time;
	snprintf(text, sizeof(text),
		 "heapmon top: %s%s%.0f s, sorted by %s%s", feed->command,
		 *feed->command ? ", " : "", now - screen->begun,
		 top_sort_names[screen->sort],
		 feed->ended ? ", ended" : "");
	screen_line_print(screen, text);
	screen_totals_print(screen, feed, elapsed > 0 ? elapsed : 1);
	if (feed->lost == HEAP_LOST_UNKNOWN) {
		screen_line_print(screen, "lost: some events");
	} else if (feed->lost) {
		snprintf(note, sizeof(note),
			 "lost: %" PRIu64 " events", feed->lost);
		screen_line_print(screen, note);
	}
	if (feed->sample) {
		snprintf(note, sizeof(note),
			 "sampled: one block in %" PRIu64
			 " bytes; figures are estimates",
			 feed->sample);
		screen_line_print(screen, note);
	}
	screen_line_print(screen, "");
	screen_line_print(screen,
			  "   LIVE  BLOCKS CALLS/S BYTES/S TEMP%  WHERE");
	for (size_t i = 0; i < digest->site_count; i++) {
		row_fill(&rows[count], screen, &digest->sites[i], i, seconds);
		count += rows[count].key > 0;
	}
	qsort(rows, count, sizeof(*rows), screen_row_compare);
	for (size_t i = 0; i < count && i < screen->rows; i++)
		screen_row_print(screen, feed, &rows[i]);
	free(rows);
	return now - screen->time < screen->interval / 2 ||
	       screen_remember(screen, digest, now);
}

void top_screen_free(struct top_screen *screen)
{
	free(screen->before);
}

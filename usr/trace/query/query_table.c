// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <rastrace/rasfile.h>
#include "lib/cost.h"
#include "lib/names.h"
#include "lib/safe_text.h"
#include "query.h"

#define MANY	24	/* points of a session: those without hits are then
			 * summed up */

enum column {
	HITS, RECORDED, OVERWRITTEN, FILTERED, DROPPED, MISSED, FAULTS, COLUMNS,
};

static const char *const headings[COLUMNS] = {
	"hits", "recorded", "overwritten", "filtered", "dropped", "missed",
	"faults",
};

static void numbers_take(const struct figure *figure, uint64_t *numbers)
{
	numbers[HITS] = figure_hits(figure);
	numbers[RECORDED] = figure->recorded;
	numbers[OVERWRITTEN] = figure->overwritten;
	numbers[FILTERED] = figure_filtered(figure);
	numbers[DROPPED] = figure->dropped;
	numbers[MISSED] = figure->missed;
	numbers[FAULTS] = figure_faults(figure);
}

static void number_print(uint64_t number, int width)
{
	if (number == RAS_MISSED_UNKNOWN)
		printf(" %*s", width, "unknown");
	else
		printf(" %*" PRIu64, width, number);
}

static void kinds_print(const char *title, const char *const *names,
			const __u64 *numbers, unsigned int count)
{
	const char *before = title;

	for (unsigned int i = 0; i < count; i++) {
		if (!numbers[i] || !names[i])
			continue;
		printf("%s%llu %s", before, numbers[i], names[i]);
		before = ", ";
	}
}

static void site_print(const struct tdf *tdf, const struct tdf_site *site)
{
	char cost[COST_TEXT];

	safe_text_print(stdout, tdf_string(tdf, site->symbol), false);
	printf("+%u (%#llx)", site->symbol_offset,
	       site->address ? site->address : site->offset);
	if (site->nominal != site->address)
		printf(" for %#llx", site->nominal);
	if (site->flags & TDF_SITE_RETURN)
		fputs(" at the return", stdout);
	if (site->text) {
		fputs(", ", stdout);
		safe_text_print(stdout, tdf_string(tdf, site->text), false);
	}
	if (cost_print(cost, site->cost, site->flags))
		printf(", %s, %s", names_cost[site->cost], cost);
}

static void place_print(const struct tdf *tdf, uint32_t index)
{
	const struct tdf_point *point;

	if (!tdf) {
		puts("  -");
		return;
	}
	point = &tdf->points[index];
	fputs("  ", stdout);
	safe_text_print(stdout, tdf_string(tdf, point->name), false);
	fputs(": ", stdout);
	site_print(tdf, &tdf->sites[point->first_site]);
	if (point->sites > 1)
		printf(", and %u more", point->sites - 1);
	putchar('\n');
}

/* The table of one session. */
struct listing {
	const struct query *query;
	size_t session;
	int widths[COLUMNS];
	bool brief;		/* points without hits are summed up */
};

static const struct figure *listing_figure(const struct listing *listing,
					   uint32_t point)
{
	return &listing->query->figures.sessions[listing->session][point];
}

static bool listing_has(const struct listing *listing, uint32_t point)
{
	return query_point_shown(listing->query, listing->session, point);
}

bool query_point_hit(const struct query *query, size_t session, uint32_t point)
{
	const struct figure *figure = &query->figures.sessions[session][point];

	return figure_hits(figure) || figure_faults(figure) ||
	       (figure->missed && figure->missed != RAS_MISSED_UNKNOWN);
}

static void listing_measure(struct listing *listing, uint32_t points)
{
	uint64_t numbers[COLUMNS];
	uint32_t shown = 0;

	for (int c = 0; c < COLUMNS; c++)
		listing->widths[c] = strlen(headings[c]);
	for (uint32_t i = 0; i < points; i++) {
		if (!listing_has(listing, i))
			continue;
		shown++;
		numbers_take(listing_figure(listing, i), numbers);
		for (int c = 0; c < COLUMNS; c++) {
			int width = numbers[c] == RAS_MISSED_UNKNOWN ? 7 :
				snprintf(NULL, 0, "%" PRIu64, numbers[c]);

			if (width > listing->widths[c])
				listing->widths[c] = width;
		}
	}
	listing->brief = shown > MANY && !listing->query->restricted;
}

static void point_print(const struct listing *listing, uint32_t index)
{
	const struct query *query = listing->query;
	const struct session *session = &query->list.items[listing->session];
	const struct figure *figure = listing_figure(listing, index);
	const struct tdf *tdf = query->tdfs[listing->session];
	uint64_t filtered = figure_filtered(figure);
	uint64_t faults = figure_faults(figure), numbers[COLUMNS];

	numbers_take(figure, numbers);
	printf("  %5u  %-9s", session->points[index].minor,
	       query_point_state(session, index));
	for (int c = 0; c < COLUMNS; c++)
		number_print(numbers[c], listing->widths[c]);
	place_print(tdf, index);
	if (tdf && query->restricted) {
		/* The other sites, a line for each. */
		const struct tdf_point *point = &tdf->points[index];

		for (uint32_t i = 1; i < point->sites; i++) {
			fputs("         also at ", stdout);
			site_print(tdf, &tdf->sites[point->first_site + i]);
			putchar('\n');
		}
	}

	/* What the sums in the line above are made of. */
	if (!filtered && !faults && !figure->why.paged_in)
		return;
	printf("        ");
	kinds_print(" filtered: ", names_filtered, figure->why.filtered,
		    RAS_FILTERED_KINDS);
	kinds_print(filtered ? "; faults: " : " faults: ", names_fault,
		    figure->why.faults, RAS_FAULT_KINDS);
	if (figure->why.paged_in)
		printf("%s%llu records had memory brought in",
		       filtered || faults ? "; " : " ", figure->why.paged_in);
	putchar('\n');
}

static bool is_without_hit(const struct query *query, size_t session,
			   uint32_t point)
{
	return query_point_shown(query, session, point) &&
	       !query_point_hit(query, session, point);
}

void query_print_without_hit(const struct query *query, size_t index)
{
	const struct session *session = &query->list.items[index];
	const char *before = "  without a hit: ";
	uint32_t points = session->entry->points;

	for (uint32_t i = 0; i < points; i++) {
		uint32_t first = i;

		if (!is_without_hit(query, index, i))
			continue;
		while (i + 1 < points && is_without_hit(query, index, i + 1) &&
		       session->points[i + 1].minor ==
		       session->points[i].minor + 1)
			i++;
		printf("%s%u", before, session->points[first].minor);
		if (i > first)
			printf("-%u", session->points[i].minor);
		before = ", ";
	}
	if (before[0] == ',')
		putchar('\n');
}

void query_print_table(const struct query *query, size_t i)
{
	const struct session *session = &query->list.items[i];
	uint32_t points = session->entry->points;
	struct listing listing = { .query = query, .session = i };

	listing_measure(&listing, points);
	printf("  %5s  %-9s", session->entry->index == RAS_STATIC_SESSION ?
	       "major" : "minor", "state");
	for (int c = 0; c < COLUMNS; c++)
		printf(" %*s", listing.widths[c], headings[c]);
	puts("  site");
	for (uint32_t k = 0; k < points; k++)
		if (listing_has(&listing, k) &&
		    (!listing.brief || query_point_hit(query, i, k)))
			point_print(&listing, k);
	if (listing.brief)
		query_print_without_hit(query, i);
}

// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <rastrace/rasfile.h>
#include "../lib/safe_text.h"
#include "query.h"

static void buffer_print(const struct query *query)
{
	const struct ras_control *control = query->buffer->control;
	const struct figures *figures = &query->figures;

	printf("buffer: %llu KiB for each of %u CPUs, %llu records of %llu bytes\n",
	       control->slice_bytes >> 10, control->cpus,
	       (unsigned long long)figures->records,
	       (unsigned long long)figures->bytes);
	if (figures->damaged)
		printf("buffer: %llu places are damaged or don't fit the counters\n",
		       (unsigned long long)figures->damaged);
}

static void place_print(const struct tdf *tdf, uint32_t index)
{
	const struct tdf_point *point;
	const struct tdf_site *site;

	if (!tdf) {
		puts("  -");
		return;
	}
	point = &tdf->points[index];
	site = &tdf->sites[point->first_site];
	fputs("  ", stdout);
	safe_text_print(stdout, tdf_string(tdf, point->name), false);
	fputs(": ", stdout);
	safe_text_print(stdout, tdf_string(tdf, site->symbol), false);
	printf("+%u (%#llx)", site->symbol_offset,
	       site->address ? site->address : site->offset);
	if (point->sites > 1)
		printf(" and %u more", point->sites - 1);
	putchar('\n');
}

static void point_print(const struct session *session,
			const struct figure *figure, const struct tdf *tdf,
			uint32_t index)
{
	uint64_t hits = figure->recorded + figure->filtered + figure->dropped;

	printf("  %5u  %-9s %12llu %12llu %12llu %10llu %10llu ",
	       session->points[index].minor, query_state_name(session),
	       (unsigned long long)hits,
	       (unsigned long long)figure->recorded,
	       (unsigned long long)figure->overwritten,
	       (unsigned long long)figure->filtered,
	       (unsigned long long)figure->dropped);
	if (figure->missed == RAS_MISSED_UNKNOWN)
		printf("%10s", "unknown");
	else
		printf("%10llu", (unsigned long long)figure->missed);
	printf(" %10llu", (unsigned long long)figure->faults);
	place_print(tdf, index);
}

static void session_print(const struct query *query, size_t i)
{
	const struct session *session = &query->list.items[i];
	const struct ras_session *entry = session->entry;

	putchar('\n');
	safe_text_print(stdout, entry->tdf, false);
	printf(": session %u, %s, major %u (0x%04x), module '", entry->index,
	       query_state_name(session), entry->major, entry->major);
	safe_text_print(stdout, entry->module, false);
	puts("'");
	printf("%s links, preemption %s in programs\n", query_mode_name(entry),
	       query_preempt_name(entry));
	printf("  %5s  %-9s %12s %12s %12s %10s %10s %10s %10s  %s\n", "minor",
	       "state", "hits", "recorded", "overwritten", "filtered",
	       "dropped", "missed", "faults", "site");
	for (uint32_t k = 0; k < entry->points; k++)
		point_print(session, &query->figures.sessions[i][k],
			    query->tdfs[i], k);
}

void query_print_text(const struct query *query)
{
	size_t shown = 0;

	if (query->buffer)
		buffer_print(query);
	for (size_t i = 0; i < query->list.count; i++) {
		if (!query->figures.sessions[i])
			continue;
		session_print(query, i);
		shown++;
	}
	if (!shown)
		puts("nothing is armed");
}

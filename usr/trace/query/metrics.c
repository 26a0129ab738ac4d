// SPDX-License-Identifier: GPL-2.0
#include "metrics.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include "lib/aggregate_print.h"
#include "lib/bucket.h"
#include "lib/text.h"

#define PART	1024	/* bytes of a value at a time */

void metrics_family(const char *name, const char *type, const char *unit,
		    const char *help)
{
	printf("# TYPE " METRICS_PREFIX "%s %s\n", name, type);
	if (unit)
		printf("# UNIT " METRICS_PREFIX "%s %s\n", name, unit);
	printf("# HELP " METRICS_PREFIX "%s %s\n", name, help);
}

void metrics_label(const char *name, const char *value, bool first)
{
	char safe[4 * PART], *end;

	printf("%s%s=\"", first ? "{" : ",", name);
	for (size_t left = strlen(value), n; left; value += n, left -= n) {
		n = left < PART ? left : PART;
		while (n > 1 && n < left && ((uint8_t)value[n] & 0xc0) == 0x80)
			n--;
		/* What a terminal would obey, and what isn't UTF-8, comes as
		 * \xHH. */
		end = safe_text_put(safe, value, n, true);
		for (const char *p = safe; p < end; p++) {
			if (*p == '\n')
				fputs("\\n", stdout);
			else if (*p == '\\' || *p == '"')
				printf("\\%c", *p);
			else
				putchar(*p);
		}
	}
	putchar('"');
}

/* A label cannot have all that an expression has: by1_request__bytes */
static void label_name(char *name, size_t size, unsigned int by,
		       const char *text)
{
	size_t used = snprintf(name, size, "by%u_", by + 1);

	for (; *text && used + 1 < size; text++)
		name[used++] = isalnum((unsigned char)*text) ? *text : '_';
	name[used] = '\0';
}

/* One table, as a sample has it */
struct metrics_table {
	const struct session *session;
	const struct aggregate_table *table;
};

static void sample_labels(const struct metrics_table *m,
			  const struct aggregate_row *row)
{
	const struct ras_legend *legend = m->table->legend;
	char name[RAS_LEGEND_BY_TEXT + 8];
	struct text value = { .fd = -1 };

	metrics_label("tdf", m->session->entry->tdf, true);
	printf(",session=\"%u\",minor=\"%u\"", m->session->entry->index,
	       legend->minor);
	metrics_label("name", legend->name, false);
	if (legend->text[0])
		metrics_label("expression", legend->text, false);
	for (unsigned int i = 0; i < legend->by_count; i++) {
		label_name(name, sizeof(name), i, legend->by[i].text);
		aggregate_by_add(&value, m->table, i, row->by);
		text_add_char(&value, '\0');
		metrics_label(name, value.error ? "" : value.data, false);
		value.used = 0;
	}
	free(value.data);
}

/* Each bucket counts those before it, too. */
static void histogram_samples(const struct metrics_table *m,
			      const struct aggregate_row *row)
{
	uint64_t count = 0, bound = 0;
	size_t at = 0;
	bool negative = row->bucket_count &&
			row->buckets[0].bucket == RAS_BUCKET_NEGATIVE;

	if (negative)
		count = row->buckets[at++].count;
	while (at < row->bucket_count) {
		while (at < row->bucket_count &&
		       bucket_start(row->buckets[at].bucket) <= bound)
			count += row->buckets[at++].count;
		fputs(METRICS_PREFIX "aggregate_histogram_bucket", stdout);
		sample_labels(m, row);
		printf(",le=\"%" PRIu64 ".0\"} %" PRIu64 "\n", bound, count);
		bound = 2 * bound + 1;
	}
	fputs(METRICS_PREFIX "aggregate_histogram_bucket", stdout);
	sample_labels(m, row);
	printf(",le=\"+Inf\"} %" PRIu64 "\n", row->count);
	/* there must be no sum of what may be negative */
	if (negative)
		return;
	fputs(METRICS_PREFIX "aggregate_histogram_count", stdout);
	sample_labels(m, row);
	printf("} %" PRIu64 "\n" METRICS_PREFIX "aggregate_histogram_sum",
	       row->count);
	sample_labels(m, row);
	printf("} %" PRId64 "\n", row->value);
}

static const struct {
	const char *family, *type, *help;
} kinds[TDF_AGGREGATE_KINDS] = {
	[TDF_AGGREGATE_COUNT] = { "aggregate_hits", "counter",
				  "Hits by the values of BY." },
	[TDF_AGGREGATE_SUM] = { "aggregate_sum", "gauge", "Sum of values." },
	[TDF_AGGREGATE_MIN] = { "aggregate_min", "gauge", "Least value." },
	[TDF_AGGREGATE_MAX] = { "aggregate_max", "gauge", "Highest value." },
	[TDF_AGGREGATE_HIST] = { "aggregate_histogram", "histogram",
				 "How often there was which value." },
};

static void table_samples(const struct metrics_table *m, unsigned int kind)
{
	for (size_t i = 0; i < m->table->row_count; i++) {
		const struct aggregate_row *row = &m->table->rows[i];

		if (kind == TDF_AGGREGATE_HIST) {
			histogram_samples(m, row);
			continue;
		}
		printf(METRICS_PREFIX "%s%s", kinds[kind].family,
		       kind == TDF_AGGREGATE_COUNT ? "_total" : "");
		sample_labels(m, row);
		if (kind == TDF_AGGREGATE_COUNT)
			printf("} %" PRIu64 "\n", row->count);
		else
			printf("} %" PRId64 "\n", row->value);
	}
}

void metrics_aggregates(const struct query *query)
{
	for (unsigned int kind = 0; kind < TDF_AGGREGATE_KINDS; kind++) {
		bool begun = false;

		for (size_t i = 0; i < query->list.count; i++) {
			const struct aggregates *a =
				&query->sessions[i].aggregates;

			for (size_t k = 0; k < a->table_count; k++) {
				const struct metrics_table m = {
					&query->list.items[i], &a->tables[k],
				};

				if (m.table->legend->kind != kind ||
				    !query->chosen[i][m.table->legend->point])
					continue;
				if (!begun)
					metrics_family(kinds[kind].family,
						       kinds[kind].type, NULL,
						       kinds[kind].help);
				begun = true;
				table_samples(&m, kind);
			}
		}
	}
}

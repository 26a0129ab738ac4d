// SPDX-License-Identifier: GPL-2.0
#include "otlp_metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/aggregate_print.h"
#include "lib/bucket.h"
#include "lib/path.h"

#define CUMULATIVE	2	/* aggregationTemporality */

/* What the data points of a kind are in, and what one is. */
static const struct metric_kind {
	const char *name, *description;
	struct otlp_field data;
	uint32_t attributes;
	bool is_monotonic;
} metric_kinds[TDF_AGGREGATE_KINDS + 1] = {
	[TDF_AGGREGATE_COUNT] = { "rastrace.aggregate.hits",
		"Hits by the values of BY.", { 7, "sum" }, 7, true },
	[TDF_AGGREGATE_SUM] = { "rastrace.aggregate.sum",
		"Sum of values.", { 7, "sum" }, 7, false },
	[TDF_AGGREGATE_MIN] = { "rastrace.aggregate.min",
		"Least value.", { 5, "gauge" }, 7, false },
	[TDF_AGGREGATE_MAX] = { "rastrace.aggregate.max",
		"Highest value.", { 5, "gauge" }, 7, false },
	[TDF_AGGREGATE_HIST] = { "rastrace.aggregate.histogram",
		"How often there was which value.", { 9, "histogram" }, 9,
		false },
	[TDF_AGGREGATE_KINDS] = { "rastrace.aggregate.lost",
		"Additions that found no room for their keys.", { 7, "sum" }, 7,
		true },
};

struct metrics {
	struct otlp_batch *batch;
	const struct trace *trace;
	const struct trace_session *session;
	struct text *text;
	struct text value;	/* of a BY */
	struct text histogram;	/* doubles and uint64_t of one */
	int64_t since, taken;	/* wall clock */
	struct otlp_message *m;	/* a metric that has begun; NULL */
};

static void metric_begin(struct metrics *metrics, const struct metric_kind *kind)
{
	struct otlp_message *m = otlp_batch_add_session(metrics->batch,
							metrics->trace,
							metrics->session);

	metrics->m = m;
	if (!m)
		return;
	otlp_begin(m, OTLP_FIELD(2, NULL));
	otlp_string(m, OTLP_FIELD(1, "name"), kind->name, strlen(kind->name));
	otlp_string(m, OTLP_FIELD(2, "description"), kind->description,
		    strlen(kind->description));
	otlp_begin(m, kind->data);
	otlp_list(m, OTLP_FIELD(1, "dataPoints"));
}

static void metric_end(struct metrics *metrics, const struct metric_kind *kind)
{
	struct otlp_message *m = metrics->m;

	if (!m)
		return;
	otlp_list_end(m);
	if (kind->data.number != 5)
		otlp_number(m, OTLP_FIELD(2, "aggregationTemporality"),
			    CUMULATIVE);
	if (kind->is_monotonic)
		otlp_bool(m, OTLP_FIELD(3, "isMonotonic"), true);
	otlp_end(m);
	otlp_end(m);
	metrics->m = NULL;
}

/* The key of an attribute; that of a later BY with the same text has its number. */
static void by_attribute_begin(struct metrics *metrics, uint32_t attributes,
			       const struct ras_legend *legend, unsigned int by)
{
	const char *name = legend->by[by].text;
	char numbered[RAS_LEGEND_BY_TEXT + 16];

	for (unsigned int i = 0; i < by; i++) {
		if (strcmp(name, legend->by[i].text))
			continue;
		snprintf(numbered, sizeof(numbered), "%s#%u",
			 legend->by[by].text, by + 1);
		name = numbered;
		break;
	}
	otlp_attribute_begin(metrics->m, attributes, "rastrace.by.", name);
}

static void by_add(struct metrics *metrics, uint32_t attributes,
		   const struct aggregate_table *table, unsigned int by,
		   const uint8_t *values)
{
	const struct ras_legend *legend = table->legend;
	struct otlp_message *m = metrics->m;
	unsigned int kind = legend->by[by].kind;
	int64_t number = 0;

	if (kind == TDF_BY_SIGNED || kind == TDF_BY_UNSIGNED)
		memcpy(&number, values + aggregate_offset(legend, by),
		       sizeof(number));
	by_attribute_begin(metrics, attributes, legend, by);
	if (kind == TDF_BY_SIGNED || (kind == TDF_BY_UNSIGNED && number >= 0)) {
		otlp_integer(m, OTLP_INT_VALUE, number);
	} else {
		metrics->value.used = 0;
		aggregate_by_add(&metrics->value, table, by, values);
		m->text.error |= metrics->value.error;
		otlp_string(m, OTLP_STRING_VALUE, metrics->value.data,
			    metrics->value.used);
	}
	otlp_attribute_end(m);
}

/* What all data points have; legend: NULL of those of a session */
static void point_begin(struct metrics *metrics, const struct metric_kind *kind,
			const struct ras_legend *legend)
{
	const struct trace_session *session = metrics->session;
	const char *tdf = path_base(session->tdf);
	struct otlp_message *m = metrics->m;
	uint32_t field = kind->attributes;

	otlp_begin(m, OTLP_FIELD(1, NULL));
	otlp_fixed(m, OTLP_FIELD(2, "startTimeUnixNano"), metrics->since);
	otlp_fixed(m, OTLP_FIELD(3, "timeUnixNano"), metrics->taken);
	otlp_list(m, OTLP_FIELD(field, "attributes"));
	otlp_attribute_string(m, field, "rastrace.tdf", tdf, strlen(tdf));
	otlp_attribute_integer(m, field, "rastrace.session",
			       session->entry->index);
	if (!legend)
		return;
	otlp_attribute_integer(m, field, "rastrace.major",
			       session->entry->major);
	otlp_attribute_integer(m, field, "rastrace.minor", legend->minor);
	otlp_attribute_integer(m, field, "rastrace.statement",
			       legend->statement);
	otlp_attribute_string(m, field, "rastrace.name", legend->name,
			      strlen(legend->name));
	if (legend->text[0])
		otlp_attribute_string(m, field, "rastrace.expression",
				      legend->text, strlen(legend->text));
}

static void point_end(struct metrics *metrics)
{
	otlp_end(metrics->m);
	metrics->batch->items[OTLP_METRICS]++;
}

/*
 * A bound is the last value of a bucket; where there are no values between two
 * buckets, they have one more. Above 2^53 they are rounded to a double.
 */
static void point_buckets_add(struct metrics *metrics,
			  const struct aggregate_row *row)
{
	bool negative = row->bucket_count &&
			row->buckets[0].bucket == RAS_BUCKET_NEGATIVE;
	struct otlp_message *m = metrics->m;
	size_t room = 2 * row->bucket_count + 2, count = 0;
	uint64_t *counts;
	double *bounds;
	int64_t last = -1;

	metrics->histogram.used = 0;
	if (text_reserve(&metrics->histogram,
			 room * (sizeof(*bounds) + sizeof(*counts)))) {
		m->text.error = ENOMEM;
		return;
	}
	bounds = (double *)metrics->histogram.data;
	counts = (uint64_t *)(bounds + room);
	if (negative) {
		bounds[count] = -1;
		counts[count++] = row->buckets[0].count;
	}
	for (size_t i = negative; i < row->bucket_count; i++) {
		unsigned int bucket = row->buckets[i].bucket;
		int64_t first = bucket_start(bucket);

		if (!count || first - 1 > last) {
			bounds[count] = first - 1;
			counts[count++] = 0;
		}
		last = first + (int64_t)(bucket_width(bucket) - 1);
		bounds[count] = last;
		counts[count++] = row->buckets[i].count;
	}
	counts[count] = 0;
	otlp_fixed(m, OTLP_FIELD(4, "count"), row->count);
	/* there must be none of what may be negative; nor of what is too large */
	if (!negative && row->value >= 0)
		otlp_double(m, OTLP_FIELD(5, "sum"), row->value);
	otlp_fixed_array(m, OTLP_FIELD(6, "bucketCounts"), counts, count + 1);
	otlp_double_array(m, OTLP_FIELD(7, "explicitBounds"), bounds, count);
}

static void metric_row_add(struct metrics *metrics, const struct metric_kind *kind,
			   const struct aggregate_table *table,
			   const struct aggregate_row *row)
{
	const struct ras_legend *legend = table->legend;
	struct otlp_message *m = metrics->m;

	point_begin(metrics, kind, legend);
	for (unsigned int i = 0; i < legend->by_count; i++)
		by_add(metrics, kind->attributes, table, i, row->by);
	otlp_list_end(m);
	if (legend->kind == TDF_AGGREGATE_HIST)
		point_buckets_add(metrics, row);
	else
		otlp_signed_fixed(m, OTLP_FIELD(6, "asInt"),
				  legend->kind == TDF_AGGREGATE_COUNT ?
				  (int64_t)row->count : row->value);
	point_end(metrics);
}

/* All rows of a kind are one metric, unless a request would be too large. */
static int kind_add(struct metrics *metrics, unsigned int number)
{
	const struct metric_kind *kind = &metric_kinds[number];
	const struct aggregates *a = &metrics->session->aggregates;
	int code = 0;

	for (size_t i = 0; i < a->table_count; i++) {
		const struct aggregate_table *table = &a->tables[i];

		if (table->legend->kind != number)
			continue;
		for (size_t k = 0; k < table->row_count && !code; k++) {
			if (!metrics->m)
				metric_begin(metrics, kind);
			if (!metrics->m)
				return -ENOMEM;
			metric_row_add(metrics, kind, table, &table->rows[k]);
			if (!otlp_batch_is_full(metrics->batch))
				continue;
			metric_end(metrics, kind);
			code = otlp_batch_give(metrics->batch, metrics->text);
		}
	}
	metric_end(metrics, kind);
	return code;
}

static int metric_lost_add(struct metrics *metrics)
{
	const struct metric_kind *kind = &metric_kinds[TDF_AGGREGATE_KINDS];

	metric_begin(metrics, kind);
	if (!metrics->m)
		return -ENOMEM;
	point_begin(metrics, kind, NULL);
	otlp_list_end(metrics->m);
	otlp_signed_fixed(metrics->m, OTLP_FIELD(6, "asInt"),
			  aggregates_lost(&metrics->session->aggregates));
	point_end(metrics);
	metric_end(metrics, kind);
	return 0;
}

static int64_t wall_time(const struct trace *trace, uint64_t time)
{
	int64_t wall = time + (uint64_t)trace->file.header.wall_offset;

	return wall < 0 ? 0 : wall;
}

int otlp_metrics_add(struct otlp_batch *batch, const struct trace *trace,
		     const struct trace_session *session, struct text *text)
{
	const struct aggregates *a = &session->aggregates;
	struct metrics metrics = {
		.batch = batch, .trace = trace, .session = session,
		.text = text, .value.fd = -1, .histogram.fd = -1,
		.since = wall_time(trace, a->since),
		.taken = wall_time(trace, a->taken),
	};
	int code = 0;

	for (unsigned int i = 0; i < TDF_AGGREGATE_KINDS && !code; i++)
		code = kind_add(&metrics, i);
	if (!code && a->table_count)
		code = metric_lost_add(&metrics);
	free(metrics.value.data);
	free(metrics.histogram.data);
	return code;
}

// SPDX-License-Identifier: GPL-2.0
#include "aggregate.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "lib/bucket.h"

#define LEGENDS_MAX	(TDF_POINTS_MAX * TDF_AGGREGATES_MAX)

/* An entry of the payload */
struct aggregate_summand {
	uint32_t table;
	uint32_t by_bytes;
	struct ras_aggregate_key key;
	struct ras_aggregate sum;
	const uint8_t *by;
};

static int damaged(struct error *err, const char *what)
{
	return error_set(err, -EINVAL, "aggregates: %s", what);
}

static bool legend_valid(const struct ras_legend *legend, uint32_t key_bytes)
{
	size_t bytes = sizeof(struct ras_aggregate_key);

	if (legend->kind >= TDF_AGGREGATE_KINDS ||
	    legend->by_count > TDF_BY_MAX ||
	    legend->statement >= TDF_AGGREGATES_MAX ||
	    !memchr(legend->text, 0, sizeof(legend->text)) ||
	    !memchr(legend->name, 0, sizeof(legend->name)))
		return false;
	for (unsigned int i = 0; i < legend->by_count; i++) {
		uint16_t by_bytes = legend->by[i].bytes;
		bool text = legend->by[i].kind == TDF_BY_TEXT;
		bool stack = legend->by[i].kind == TDF_BY_STACK;

		if (legend->by[i].kind >= TDF_BY_KINDS ||
		    !memchr(legend->by[i].text, 0,
			    sizeof(legend->by[i].text)) ||
		    !by_bytes || by_bytes & 7 ||
		    (stack && by_bytes < sizeof(struct ras_by_stack)) ||
		    (!text && !stack && by_bytes != 8))
			return false;
		bytes += by_bytes;
	}
	return bytes <= key_bytes;
}

static uint32_t legend_order(const struct ras_legend *legend)
{
	return (uint32_t)legend->point << 8 | legend->statement;
}

static int legends_check(struct aggregates *a,
			 const struct ras_legend *legends, uint32_t key_bytes,
			 struct error *err)
{
	for (size_t i = 0; i < a->table_count; i++) {
		if (!legend_valid(&legends[i], key_bytes))
			return damaged(err, "a legend is damaged");
		if (i && legend_order(&legends[i]) <=
				 legend_order(&legends[i - 1]))
			return damaged(err, "legends don't ascend");
		a->tables[i].legend = &legends[i];
	}
	return 0;
}

/* The table of a key, or -1 */
static long table_find(const struct aggregates *a,
		       const struct ras_aggregate_key *key)
{
	uint32_t wanted = (uint32_t)key->point << 8 | key->statement;
	size_t low = 0, high = a->table_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		uint32_t order = legend_order(a->tables[middle].legend);

		if (order == wanted)
			return middle;
		if (order < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

static int summand_take(const struct aggregates *a, struct aggregate_summand *entry,
		      const uint8_t *p, uint32_t key_bytes, struct error *err)
{
	const struct ras_legend *legend;
	long table;

	memcpy(&entry->key, p, sizeof(entry->key));
	memcpy(&entry->sum, p + key_bytes, sizeof(entry->sum));
	entry->by = p + sizeof(entry->key);
	table = table_find(a, &entry->key);
	if (table < 0)
		return damaged(err, "a key of no aggregate");
	legend = a->tables[table].legend;
	if (entry->key.bucket > (legend->kind == TDF_AGGREGATE_HIST ?
				 RAS_BUCKET_NEGATIVE : 0))
		return damaged(err, "a bucket that is none");
	entry->table = table;
	entry->by_bytes = aggregate_offset(legend, legend->by_count);
	return 0;
}

/* Negative values first */
static unsigned int bucket_order(unsigned int bucket)
{
	return bucket == RAS_BUCKET_NEGATIVE ? 0 : bucket + 1;
}

static int summand_compare(const void *x, const void *y)
{
	const struct aggregate_summand *a = x, *b = y;
	int order = array_order(a->table, b->table);

	if (!order)
		order = memcmp(a->by, b->by, a->by_bytes);
	return order ? order : array_order(bucket_order(a->key.bucket),
					   bucket_order(b->key.bucket));
}

static int64_t summand_value(const struct aggregate_summand *entry,
			   unsigned int kind)
{
	switch (kind) {
	case TDF_AGGREGATE_MIN:
		return ~entry->sum.least ^ 1ULL << 63;
	case TDF_AGGREGATE_MAX:
		return entry->sum.most ^ 1ULL << 63;
	default:
		return entry->sum.sum;
	}
}

/* Rows with equal keys are one: the buckets of a histogram. */
static void rows_make(struct aggregates *a, const struct aggregate_summand *entries,
		      size_t count)
{
	struct aggregate_row *row = NULL;
	const struct aggregate_summand *last = NULL;
	size_t rows = 0, buckets = 0;

	for (size_t i = 0; i < count; i++) {
		const struct aggregate_summand *entry = &entries[i];
		struct aggregate_table *table = &a->tables[entry->table];

		if (!entry->sum.count)
			continue;
		if (!table->rows)
			table->rows = &a->rows[rows];
		if (!last || last->table != entry->table ||
		    memcmp(last->by, entry->by, entry->by_bytes)) {
			row = &a->rows[rows++];
			row->by = entry->by;
			row->buckets = &a->buckets[buckets];
			row->value = summand_value(entry, table->legend->kind);
			table->row_count++;
		} else {
			row->value = (uint64_t)row->value + entry->sum.sum;
		}
		a->buckets[buckets++] = (struct aggregate_bucket){
			entry->key.bucket, entry->sum.count,
		};
		row->bucket_count++;
		row->count += entry->sum.count;
		last = entry;
	}
}

/* Equal ones in the order of their keys, in which they were made */
static int row_key_compare(const struct aggregate_row *a,
		       const struct aggregate_row *b)
{
	return (a->buckets > b->buckets) - (a->buckets < b->buckets);
}

static int row_count_compare(const void *x, const void *y)
{
	const struct aggregate_row *a = x, *b = y;
	int order = array_order(b->count, a->count);

	return order ? order : row_key_compare(a, b);
}

static int row_value_compare(const void *x, const void *y)
{
	const struct aggregate_row *a = x, *b = y;
	int order = (b->value > a->value) - (b->value < a->value);

	return order ? order : row_key_compare(a, b);
}

static void rows_sort(struct aggregates *a)
{
	for (size_t i = 0; i < a->table_count; i++) {
		struct aggregate_table *table = &a->tables[i];
		unsigned int kind = table->legend->kind;

		if (table->row_count)
			qsort(table->rows, table->row_count,
			      sizeof(*table->rows),
			      kind == TDF_AGGREGATE_COUNT ||
			      kind == TDF_AGGREGATE_HIST ? row_count_compare :
							   row_value_compare);
	}
}

static int entries_take(struct aggregates *a, const uint8_t *p, size_t count,
			uint32_t key_bytes, struct error *err)
{
	size_t stride = key_bytes + sizeof(struct ras_aggregate);
	struct aggregate_summand *entries = calloc(count + 1, sizeof(*entries));
	int code = 0;

	a->rows = calloc(count + 1, sizeof(*a->rows));
	a->buckets = calloc(count + 1, sizeof(*a->buckets));
	if (!entries || !a->rows || !a->buckets)
		code = error_no_memory(err);
	for (size_t i = 0; i < count && !code; i++)
		code = summand_take(a, &entries[i], p + i * stride, key_bytes,
				  err);
	if (!code) {
		qsort(entries, count, sizeof(*entries), summand_compare);
		rows_make(a, entries, count);
		rows_sort(a);
	}
	free(entries);
	return code;
}

/* Older files have no times. */
#define HEAD_OLD	offsetof(struct ras_aggregates, since)

static bool length_is(const struct ras_aggregates *head, size_t head_bytes,
		      size_t size)
{
	size_t stride = head->key_bytes + sizeof(struct ras_aggregate);
	size_t fixed = head_bytes +
		       head->points * sizeof(struct ras_aggregates_point) +
		       head->legends * sizeof(struct ras_legend);

	return size >= fixed && head->entries <= (size - fixed) / stride &&
	       head->entries * stride == size - fixed;
}

static int payload_take(struct aggregates *a, size_t size, struct error *err)
{
	const struct ras_aggregates *head = a->data;
	size_t head_bytes = sizeof(*head);
	const struct ras_legend *legends;
	int code;

	if (size < HEAD_OLD || head->legends > LEGENDS_MAX ||
	    head->points > TDF_POINTS_MAX ||
	    head->key_bytes < sizeof(struct ras_aggregate_key) ||
	    head->key_bytes > RAS_AGGREGATE_KEY_MAX || head->key_bytes & 7)
		return damaged(err, "the header is damaged");
	if (!length_is(head, head_bytes, size))
		head_bytes = HEAD_OLD;
	if (!length_is(head, head_bytes, size))
		return damaged(err, "the length is wrong");
	a->session = head->session;
	if (head_bytes == sizeof(*head)) {
		a->since = head->since;
		a->taken = head->taken;
	}
	a->points = (const void *)((const uint8_t *)a->data + head_bytes);
	a->point_count = head->points;
	legends = (const void *)(a->points + head->points);
	a->table_count = head->legends;
	a->tables = calloc(a->table_count + 1, sizeof(*a->tables));
	if (!a->tables)
		return error_no_memory(err);
	code = legends_check(a, legends, head->key_bytes, err);
	return code ? code : entries_take(a, (const void *)(legends +
							    head->legends),
					  head->entries, head->key_bytes, err);
}

int aggregates_parse(struct aggregates *aggregates, void *data, size_t size,
		     struct error *err)
{
	int code;

	*aggregates = (struct aggregates){ .data = data };
	code = payload_take(aggregates, size, err);
	if (code)
		aggregates_free(aggregates);
	return code;
}

void aggregates_free(struct aggregates *aggregates)
{
	free(aggregates->data);
	free(aggregates->tables);
	free(aggregates->rows);
	free(aggregates->buckets);
	*aggregates = (struct aggregates){ 0 };
}

uint64_t aggregates_lost(const struct aggregates *aggregates)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < aggregates->point_count; i++)
		lost += aggregates->points[i].sum.lost;
	return lost;
}

uint64_t aggregates_hits(const struct aggregates *aggregates, uint32_t point)
{
	for (size_t i = 0; i < aggregates->point_count; i++)
		if (aggregates->points[i].point == point)
			return aggregates->points[i].sum.hits;
	return 0;
}

int64_t aggregate_permille(const struct aggregate_row *row, unsigned int n)
{
	uint64_t rank = ((unsigned __int128)row->count * n + 999) / 1000;
	uint64_t seen = 0;
	unsigned int bucket = 0;

	for (size_t i = 0; i < row->bucket_count; i++) {
		bucket = row->buckets[i].bucket;
		seen += row->buckets[i].count;
		if (seen >= rank)
			break;
	}
	return bucket == RAS_BUCKET_NEGATIVE ? -1 :
	       (int64_t)bucket_middle(bucket);
}

double aggregate_mean(const struct aggregate_row *row)
{
	return row->count ? (double)row->value / row->count : 0;
}

struct aggregate_stack aggregate_stack(const struct ras_legend *legend,
				       unsigned int by, const uint8_t *value)
{
	size_t room = legend->by[by].bytes - sizeof(struct ras_by_stack);
	struct ras_by_stack head;
	size_t bytes;

	memcpy(&head, value, sizeof(head));
	bytes = head.item.length < sizeof(head.stack) ? 0 :
		head.item.length - sizeof(head.stack);
	return (struct aggregate_stack) {
		.pid = head.pid, .stack = head.stack,
		.addresses = value + sizeof(head),
		.bytes = bytes < room ? bytes : room,
	};
}

size_t aggregate_text(const struct ras_legend *legend, unsigned int by,
		      const uint8_t *value, bool *cut)
{
	size_t bytes = legend->by[by].bytes;

	*cut = value[bytes - 1];
	return strnlen((const char *)value, bytes - 1);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a session has added up in the kernel: a table for each aggregate of a
 * tracepoint, with a row for each of the values that its BY had. From the payload
 * of RAS_CHUNK_AGGREGATES, which is checked; a live session's is made in memory.
 */
#ifndef LIB_AGGREGATE_H
#define LIB_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/rasfile.h>
#include "lib/error.h"

struct aggregate_bucket {
	unsigned int bucket;	/* RAS_BUCKET_NEGATIVE, or as bucket.h has it */
	uint64_t count;
};

struct aggregate_row {
	const uint8_t *by;	/* as in the key */
	uint64_t count;
	int64_t value;		/* SUM, MIN, MAX, and of a HIST the sum */
	const struct aggregate_bucket *buckets;	/* HIST: in ascending order, the
						 * negative ones first */
	size_t bucket_count;
};

struct aggregate_table {
	const struct ras_legend *legend;
	const struct aggregate_names *names;	/* aggregate_print.h; NULL */
	struct aggregate_row *rows;	/* the highest first: by count, of SUM, MIN
					 * and MAX by value */
	size_t row_count;
};

struct aggregates {
	uint32_t session;
	uint64_t since, taken;	/* CLOCK_BOOTTIME, ns */
	void *data;		/* the payload */
	const struct ras_aggregates_point *points;
	size_t point_count;
	struct aggregate_table *tables;	/* in the order of points */
	size_t table_count;
	struct aggregate_row *rows;
	struct aggregate_bucket *buckets;
};

/* Takes over `data`, from malloc(), also when it fails. 0, or a negative errno
 * with err set. */
int aggregates_parse(struct aggregates *aggregates, void *data, size_t size,
		     struct error *err);
void aggregates_free(struct aggregates *aggregates);

/* What no aggregate found room for, of all points */
uint64_t aggregates_lost(const struct aggregates *aggregates);

/* Hits of a point that made no record */
uint64_t aggregates_hits(const struct aggregates *aggregates, uint32_t point);

/* Of a HIST: a value that n of a thousand don't exceed, to 1 %; negative ones
 * count as -1. */
int64_t aggregate_permille(const struct aggregate_row *row, unsigned int n);
/* The mean, of SUM and HIST */
double aggregate_mean(const struct aggregate_row *row);

/* Bytes of a BY's text, which is `cut`, at `by` of the row */
size_t aggregate_text(const struct ras_legend *legend, unsigned int by,
		      const uint8_t *value, bool *cut);
/* A BY's stack, at `by` of the row */
struct aggregate_stack {
	uint32_t pid;			/* 0: of the kernel */
	struct ras_stack stack;
	const uint8_t *addresses;	/* 8 bytes each, not aligned */
	size_t bytes;
};

struct aggregate_stack aggregate_stack(const struct ras_legend *legend,
				       unsigned int by, const uint8_t *value);
/* Where the value of a BY is in a row's */
static inline size_t aggregate_offset(const struct ras_legend *legend,
				      unsigned int by)
{
	size_t offset = 0;

	while (by)
		offset += legend->by[--by].bytes;
	return offset;
}

#endif

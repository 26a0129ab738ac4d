// SPDX-License-Identifier: GPL-2.0
#include "figures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/bucket.h"
#include "lib/hash.h"

int latency_add(struct latency *latency, int64_t ns)
{
	unsigned int bucket = bucket_find(ns), row = bucket / BUCKET_PARTS;

	if (!latency->rows[row])
		latency->rows[row] = calloc(BUCKET_PARTS, sizeof(uint64_t));
	if (!latency->rows[row])
		return -ENOMEM;
	latency->rows[row][bucket % BUCKET_PARTS]++;
	if (!latency->count || ns < latency->least)
		latency->least = ns;
	if (ns > latency->most)
		latency->most = ns;
	latency->sum += ns;
	latency->count++;
	return 0;
}

void latency_free(struct latency *latency)
{
	for (size_t i = 0; i < LATENCY_ROWS; i++)
		free(latency->rows[i]);
}

int64_t latency_permille(const struct latency *latency, unsigned int n)
{
	uint64_t rank = ((unsigned __int128)latency->count * n + 999) / 1000;
	uint64_t seen = 0;
	int64_t ns;

	for (unsigned int row = 0; row < LATENCY_ROWS; row++)
		for (unsigned int part = 0; latency->rows[row] &&
		     part < BUCKET_PARTS; part++) {
			seen += latency->rows[row][part];
			if (seen >= rank && rank) {
				ns = bucket_middle(row * BUCKET_PARTS + part);
				ns = ns < latency->least ? latency->least : ns;
				return ns < latency->most ? ns : latency->most;
			}
		}
	return latency->most;
}

uint64_t latency_octave(const struct latency *latency, unsigned int power)
{
	unsigned int row = power < RAS_BUCKET_SHIFT ? 0 :
			   power - RAS_BUCKET_SHIFT + 1;
	unsigned int from = row ? 0 : power ? 1u << power : 0;
	unsigned int to = row ? BUCKET_PARTS : 2u << power;
	uint64_t count = 0;

	if (row >= LATENCY_ROWS || !latency->rows[row])
		return 0;
	for (unsigned int part = from; part < to; part++)
		count += latency->rows[row][part];
	return count;
}

/* ---- texts ---- */

int value_counts_add(struct value_counts *counts, const char *text,
		     size_t length)
{
	/* The hash distinguishes texts that are cut to the same one. */
	struct value_count row = {
		.count = 1, .length = length,
		.hash = hash_fnv(HASH_FNV_START, text, length),
	};

	/* Cut the text, between two characters. */
	if (length > sizeof(row.text)) {
		length = sizeof(row.text) - 3;
		while (length && (text[length] & 0xc0) == 0x80)
			length--;
		memcpy(row.text + length, "...", 3);
		row.length = length + 3;
	}
	memcpy(row.text, text, length);

	for (size_t i = 0; i < counts->count; i++) {
		struct value_count *there = &counts->rows[i];

		if (there->hash == row.hash && there->length == row.length &&
		    !memcmp(there->text, row.text, row.length)) {
			there->count++;
			return 0;
		}
	}
	if (counts->count == VALUE_COUNTS_MOST) {
		counts->others++;
		return 0;
	}
	if (!array_grow(&counts->rows, counts->count, &counts->room,
			sizeof(*counts->rows)))
		return -ENOMEM;
	counts->rows[counts->count++] = row;
	return 0;
}

static int value_count_compare(const void *a, const void *b)
{
	const struct value_count *x = a, *y = b;
	size_t length = x->length < y->length ? x->length : y->length;
	int order;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	order = memcmp(x->text, y->text, length);
	return order ? order : (x->length > y->length) -
			       (x->length < y->length);
}

void value_counts_sort(struct value_counts *counts)
{
	if (counts->count)
		qsort(counts->rows, counts->count, sizeof(*counts->rows),
		      value_count_compare);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Latencies of a function, and how often it returned which value. */
#ifndef TRACEFMT_FIGURES_H
#define TRACEFMT_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#define LATENCY_ROWS	58	/* of buckets (lib/bucket.h): 0-63, 64-127, 128-255,
				 * ... ns */

/*
 * The least, the most and the sum exactly, all others in a histogram of buckets.
 * Percentiles are to 1 %; below 128 ns exact.
 */
struct latency {
	uint64_t count;
	int64_t least, most;
	double sum;
	uint64_t *rows[LATENCY_ROWS];	/* NULL: none there */
};

/* ns >= 0. 0 or -ENOMEM. */
int latency_add(struct latency *latency, int64_t ns);
void latency_free(struct latency *latency);
/* That of a thousand which 0 < n <= 1000 don't exceed; 0 when there is none. */
int64_t latency_permille(const struct latency *latency, unsigned int n);
/* How many from 2^power ns (0: from 0) to below the double. */
uint64_t latency_octave(const struct latency *latency, unsigned int power);

#define VALUE_COUNTS_MOST	64
#define VALUE_COUNTS_TEXT	80	/* bytes of a text that are kept */

struct value_count {
	uint64_t count;
	uint32_t hash;
	uint32_t length;
	char text[VALUE_COUNTS_TEXT];
};

/* How often each of several texts was met, of the first VALUE_COUNTS_MOST of
 * them. Later ones are counted together, so that every count is right. */
struct value_counts {
	struct value_count *rows;	/* the caller frees them */
	size_t count, room;
	uint64_t others;
};

/* A text is cut to VALUE_COUNTS_TEXT bytes, with "..." at its end. 0 or -ENOMEM. */
int value_counts_add(struct value_counts *counts, const char *text,
		     size_t length);
/* The most frequent first. */
void value_counts_sort(struct value_counts *counts);

#endif

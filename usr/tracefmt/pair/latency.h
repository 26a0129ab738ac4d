/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Latencies of a function: the least, the most and the sum exactly, all others
 * in a histogram of powers of two, each in 64 equal parts. Percentiles are to
 * 1 %; below 128 ns exact.
 */
#ifndef TRACEFMT_LATENCY_H
#define TRACEFMT_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#define LATENCY_PARTS	64
#define LATENCY_ROWS	58	/* 0-63, 64-127, 128-255, ... ns */

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

#define LATENCY_MAX	24	/* characters of one */
/* "512 ns", "1.203 us", "12.34 ms"; ns >= 0; at p, returns the end. */
char *latency_put(int64_t ns, char *p);

#endif

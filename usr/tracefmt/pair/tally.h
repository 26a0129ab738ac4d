/* SPDX-License-Identifier: GPL-2.0 */
/* How often each of several texts was met, of the first TALLY_MOST of them;
 * what comes later is counted together, so that every count is right. */
#ifndef TRACEFMT_TALLY_H
#define TRACEFMT_TALLY_H

#include <stddef.h>
#include <stdint.h>

#define TALLY_MOST	64
#define TALLY_TEXT	80	/* bytes of a text that are kept */

struct tally_row {
	uint64_t count;
	uint32_t hash;
	uint32_t length;
	char text[TALLY_TEXT];
};

struct tally {
	struct tally_row *rows;
	size_t count;
	uint64_t others;
};

/* A text is cut to TALLY_TEXT bytes, "..." at its end. 0 or -ENOMEM. */
int tally_add(struct tally *tally, const char *text, size_t length);
/* The most frequent first. */
void tally_sort(struct tally *tally);
void tally_free(struct tally *tally);

#endif

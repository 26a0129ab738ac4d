/* SPDX-License-Identifier: GPL-2.0 */
/* heapmon report: what its forms of output share. */
#ifndef HEAPMON_REPORT_H
#define HEAPMON_REPORT_H

#include <stdio.h>
#include "digest.h"

enum report_section {
	REPORT_SUMMARY, REPORT_WRONG, REPORT_LIVE, REPORT_PEAK,
	REPORT_ALLOCATED, REPORT_TEMPORARY, REPORT_SIZES, REPORT_TIME,
	REPORT_TYPES, REPORT_THREADS, REPORT_TAGS, REPORT_SECTIONS
};

struct report_settings {
	unsigned int sections;	/* 1 << enum report_section */
	uint32_t top;		/* rows of a table; 0: all */
	uint32_t depth;		/* frames of a stack; 0: all */
	double min_age;		/* seconds; of blocks that are not freed */
};

/* An item, and what it is ordered by. */
struct report_rank {
	double key;
	uint32_t number;
};

/* Sort elements that begin with a rank: the largest key first, of equals the
 * lowest number. */
void report_ranks_sort(void *ranks, size_t count, size_t size);

/* All stacks of a tag. */
struct report_tag {
	uint32_t tag;		/* string; 0: those without one */
	struct digest_sum allocated, freed, kept, peak;
	double temporary;
};

/* The largest first, by what isn't freed; for free(). NULL: no memory. */
struct report_tag *report_tags(const struct digest *digest, size_t *count);
/* What a reader must know of the figures, in order; NULL: no more. `text` has
 * room for it, if it isn't always the same. */
const char *report_note(const struct digest *digest, unsigned int number,
			char *text, size_t size);
/* All of these, a line each after the prefix. */
void report_print_notes(FILE *out, const char *prefix,
			const struct digest *digest);

/* 0, or a negative errno with err set. */
int report_print_tables(FILE *out, const struct digest *digest,
			const struct report_settings *settings,
			struct error *err);
/* All of it, as one JSON object, in which there is no "<". */
int report_print_json(FILE *out, const struct digest *digest,
		      struct error *err);
/* A page for browsers; `before`: what it is compared with, or NULL. */
int report_print_flame(FILE *out, const struct digest *digest,
		       const struct digest *before, struct error *err);
/* What has become of the heap from `before` to `after`. */
int report_print_difference(FILE *out, const struct digest *before,
			    const struct digest *after,
			    const struct report_settings *settings,
			    struct error *err);

#endif

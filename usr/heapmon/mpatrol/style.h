/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables that mpatrol's own readers print, equal to the byte: of mptrace
 * from the events, of mprof from the sums.
 */
#ifndef HEAPMON_STYLE_H
#define HEAPMON_STYLE_H

#include <stdio.h>
#include "heapmon/core/reading.h"

struct style_mptrace {
	FILE *out;		/* set by the caller, with the options: */
	bool verbose;		/* -v: a line for every event */
	bool source;		/* -s: ... and where it was */
	bool begun;
	const struct heap_trace *trace;
	/* numbers that the model gave to what isn't an event for mptrace */
	uint64_t *skipped;
	size_t skipped_count, skipped_room;
	struct key_map firsts;		/* number of the first event of each
					 * index of the file */
	struct heap_totals allocated, freed, peak, reserved, internal;
	uint64_t smallest, largest;
};

/* A follower's step(); `context` is the struct style_mptrace. */
int style_mptrace_step(void *context, const struct heap_model *model,
		       const struct heap_step *step, struct error *err);
/* Print the statistics; `trace` is the one that was read. */
void style_mptrace_end(struct style_mptrace *style,
		       const struct heap_trace *trace);
void style_mptrace_free(struct style_mptrace *style);

struct style_mprof_options {
	bool addresses;		/* -a: call sites apart, not functions */
	bool counts;		/* -c: order by count, not by bytes */
	bool call_graph;	/* -v */
	unsigned int depth;	/* -n: of stacks of the leaks; 0: all. mprof has
				 * 1 without it */
	FILE *graph;		/* -g: the graph file; NULL: none */
	bool leaks;		/* -l: in it only what isn't freed */
};

/* 0, or -ENOMEM with err set. */
int style_mprof_print(FILE *out, const struct heap_profile *profile,
		      const struct style_mprof_options *options,
		      struct error *err);

#endif

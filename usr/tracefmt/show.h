/* SPDX-License-Identifier: GPL-2.0 */
/* A trace from its first record to the figures at the end. */
#ifndef TRACEFMT_SHOW_H
#define TRACEFMT_SHOW_H

#include "../lib/search.h"
#include "print.h"
#include "trace_file.h"

struct show {
	bool strict;		/* a record without a TFF entry is an error */
	bool force;		/* use entries of other data hashes */
	bool summary_only, quiet;
	struct print print;
};

/*
 * Print what comes of an opened file, on standard output; what is to be said
 * besides on standard error. The directories of its TDFs are added to the
 * search. Returns the exit status.
 */
int show_trace(struct show *show, struct trace_file *file,
	       struct search *search);

#endif

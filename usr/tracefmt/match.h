/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which rules print a record: the TFF entry whose data hash is the one that
 * was armed. Static records have no hash: they match by major and minor.
 */
#ifndef TRACEFMT_MATCH_H
#define TRACEFMT_MATCH_H

#include "../lib/search.h"
#include "render.h"
#include "trace_file.h"

/* A tracepoint as the trace knows it. */
struct match_point {
	uint64_t key;		/* session, major, minor, point */
	const struct trace_session *session;	/* NULL: static or missing */
	const struct ras_session_point *armed;	/* likewise */
	char *title;		/* DESC and line end, fit for a terminal */
	size_t title_length;
	char *codes;		/* of the header line: major and minor */
	size_t codes_length;
	struct render_format format;
	bool formatted;		/* there is a TFF entry, format is set */
	bool forced;		/* its hash is another one */
	uint64_t present;	/* records met */
	uint64_t reached;	/* the least that was recorded: sequence
				 * numbers of its records, over the slices */
	uint64_t before;	/* of these, in front of the first ones here */
	uint32_t context;	/* RAS_CONTEXT_*: what its records have */
};

struct match {
	const struct trace_file *file;
	struct search *search;
	bool force;
	struct match_point **table;	/* hashed by key */
	size_t size, count;
};

/* 0 or -ENOMEM. */
int match_open(struct match *match, const struct trace_file *file,
	       struct search *search, bool force);
/* The point of a record, found or made; NULL: no memory. */
struct match_point *match_record(struct match *match,
				 const struct ras_record *record);
/* A session's point by its place there; NULL: no record of it was met. */
const struct match_point *match_armed(const struct match *match,
				      const struct trace_session *session,
				      uint32_t point);
void match_close(struct match *match);

#endif

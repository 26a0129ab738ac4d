/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All records of one or several traces in the order of time, as events. Several
 * traces (of several machines, of a spool's cycle) are merged by wall clock; in
 * one trace the boot clock rules. Of a pipe, or a trace that grows, records
 * come out when nothing older can come any more but from a writer that was held
 * up longer than STREAM_WINDOW.
 */
#ifndef LIB_READ_STREAM_H
#define LIB_READ_STREAM_H

#include "lib/key_map.h"
#include "match.h"
#include "lib/read/merge.h"
#include "lib/formats/tff.h"
#include "lib/read/trace_file.h"

/*
 * The sequence numbers of the armed points' records, which count from 0 in
 * each slice without a hole: what is missing between two records was overwritten
 * where the slice has a gap, else it is damage.
 */

/* Of a point in a slice. */
struct point_sequence {
	struct match_point *point;
	uint64_t next;
	uint32_t slice;
	uint32_t gaps;		/* the slice had then */
	bool begun;
};

struct sequences {
	struct trace_file *file;
	struct key_map by_place;	/* struct point_sequence */
};

#define STREAM_WINDOW	100000000ULL	/* ns */

/* Point and slice of a record, and what is known of them: most records have
 * one that was met just before. */
struct trace_met {
	uint64_t key;		/* match_key() */
	struct match_point *point;
	struct point_sequence *sequence;	/* NULL: nothing */
};

#define TRACE_MET	64

struct trace {
	const char *name;	/* as named on the command line */
	uint32_t index;		/* in the stream */
	struct trace_file file;
	struct match match;
	struct merge merge;
	struct sequences sequences;
	uint64_t found;		/* events of it so far */
	uint64_t unmatched;	/* of these, without a TFF entry */
	uint64_t late;		/* of these, after a newer one */
	int64_t newest;		/* wall clock of its newest event */
	uint64_t until;		/* records up to this may come out, boot clock */
	bool ended;		/* of the file nothing more is to be read */
	size_t sessions, formats;	/* of the file, known to the search */
	const struct merge_head *next;	/* its next record; NULL: none yet */
	struct match_point *point;	/* of that */
	struct point_sequence *sequence; /* of the point that counts it */
	int64_t time;			/* of the next record */
	bool queued;		/* is in the stream's heap */
	struct trace_met met[TRACE_MET];
};

struct stream {
	struct trace **traces;
	size_t count;
	struct trace **heap;	/* that have a next event, the oldest on top */
	size_t queued;
	bool given;		/* the top's event: another one is due */
	bool waiting;		/* more is to be read of a trace first */
	bool begun;		/* the beginnings were read */
	struct search *search;
	bool force;
	bool system;		/* search_add_system() was called */
	uint64_t number;	/* events so far */
	int64_t first;		/* wall clock, of the first event */
};

/* What STREAM_* says of the moment. */
#define STREAM_END	0	/* no more events */
#define STREAM_EVENT	1	/* here is one */
#define STREAM_WAIT	2	/* of a pipe: none may come out before more is
				 * read: stream_more() */

void stream_open(struct stream *stream, struct search *search, bool force);
/* A trace whose file the caller opens (trace_file.h) before stream_more() is
 * called; NULL: no memory. */
struct trace *stream_add(struct stream *stream, const char *name);
/* The trace added last is none: its file couldn't be opened. */
void stream_drop(struct stream *stream);
/* Read what the traces have up to the next point where events may come out; the
 * first call reads the beginnings. 0 or -ENOMEM; blocks on a pipe. */
int stream_more(struct stream *stream);
/*
 * The next event; its record stays until the next call. STREAM_*, or -ENOMEM.
 * `before` is not set.
 */
int stream_next(struct stream *stream, struct event *event);
/* After the last event: trace_file_finish() of all. */
void stream_finish(struct stream *stream);
void stream_close(struct stream *stream);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A form in which events are given out. Those that keep no state from event to
 * event are run by several threads, each on its own part of the text; the parts
 * are written in order.
 */
#ifndef TRACEFMT_OUTPUT_H
#define TRACEFMT_OUTPUT_H

#include "lib/error.h"
#include "lib/read/read.h"
#include "tracefmt/pair/pairing.h"

/* Times as text. Converting to local time is slow, and seconds last: the last
 * one is kept. A thread has its own. */
struct clock {
	bool utc, relative;	/* relative: to `start` */
	int64_t start;
	int64_t second;		/* that `text` is of: when it began, in ns */
	char text[16];		/* "HH:MM:SS."; empty: none yet */
};

#define CLOCK_MAX	48	/* characters of a time */

/* In the second of the last clock_put(). */
static inline bool clock_is_kept(const struct clock *clock, int64_t time)
{
	return (uint64_t)time - (uint64_t)clock->second < 1000000000 &&
	       clock->text[0];
}

/* clock_put() of a relative one, or in another second. */
char *clock_put_any(struct clock *clock, int64_t time, char *p);

/* Wall clock in ns since 1970 as "18:07:32.052123456", relative as
 * "+1.000123456"; at p, in CLOCK_MAX, returns the end. */
static inline char *clock_put(struct clock *clock, int64_t time, char *p)
{
	if (!clock_is_kept(clock, time))
		return clock_put_any(clock, time, p);
	memcpy(p, clock->text, sizeof(clock->text));
	return text_put_nine(p + sizeof("HH:MM:SS.") - 1,
			     (uint64_t)time - (uint64_t)clock->second);
}

/* "2026-02-03 18:07:32"; never relative. */
void clock_date(const struct clock *clock, int64_t time, char *text,
		size_t size);
/* Day of the time: a number that is another one on another day. */
int clock_day(const struct clock *clock, int64_t time);
/* "2026-02-03T18:07:32.052123456Z", always UTC. */
char *clock_put_iso(int64_t time, char *p);
/* Whole seconds, rounded down. */
int64_t clock_second(int64_t time);

/* What was asked for and holds for any output. */
struct output_settings {
	const char *path;	/* -o: a file, of ctf a directory that isn't there
				 * yet; NULL: standard output */
	bool utc, relative;	/* times; relative: to the first event given out */
	bool hex;		/* the data in hex below each record */
	bool verbose;		/* and what the format left over */
	bool colour;
	uint64_t slow;		/* --slow: ns from which a line has a latency */
	const char *otlp_url;	/* --otlp: of a server; NULL: text */
	const char *prefix;	/* --prefix: a template (prefix.h); NULL */
	char **fields;		/* --fields: these columns only */
	size_t field_count;
	bool calls;		/* what is given out are calls: columns of them
				 * are known */
	struct symbols *symbols;	/* names of addresses */
};

/* A thread's own. */
struct scratch {
	struct decode_piece *pieces;	/* room for any record */
	size_t room;
	uint8_t seen[RAS_RECORD_MAX];
	struct decode_result result;
	struct clock clock;
	_Alignas(16) uint8_t more[8192];	/* the output's own, zeroed
						 * at first */
};

/* Which calls are given out, of outputs that get all events (output_ops). 1: it
 * was chosen; 0: it wasn't; -ENOMEM. */
struct output_choice {
	int (*event)(void *context, const struct event *event);
	int (*call)(void *context, const struct pair_call *call);
	void *context;		/* NULL: all are */
};

struct output {
	const struct output_ops *ops;
	const struct output_settings *settings;
	const struct stream *stream;
	int64_t start;		/* wall clock of the first event given out */
	const char *module;	/* name of the only module that is traced; NULL:
				 * there are more, or it isn't known */
	unsigned int pairing_wanted;	/* PAIRING_PARTIAL, _CUT */
	struct foresight *foresight;	/* of ops->whole */
	struct output_choice choice;
	struct pairing *pairing;	/* of ops->call */
	uint64_t doubts[PAIR_DOUBTS];	/* calls given to ops->call */
	void *own;		/* the output's own */
};

struct output_ops {
	const char *name;	/* of --format */
	size_t own_bytes;	/* of output->own, zeroed before open() */
	bool in_order;		/* keeps state: one thread, all events */
	bool whole;		/* needs the sequence of time: no other order */
	bool in_step;		/* losses are those as of each event: none is read
				 * ahead */
	bool unfolds;		/* gets whole calls as two events (pair/unfold.h) */
	bool calls;		/* gets all events, and chooses calls itself */
	unsigned int pairing;	/* PAIRING_* of what call() gets */
	/* Each may be NULL. 0, or a negative errno with err set. */
	int (*open)(struct output *output, struct text *text,
		    struct error *err);
	/* Append the event to text. 0, or a negative errno. */
	int (*event)(struct output *output, const struct event *event,
		     struct text *text, struct scratch *scratch);
	/* The next event may take a while. */
	int (*flush)(struct output *output, struct text *text);
	/* Instead of events: a call that has ended, or ends with the trace. Its
	 * members of PAIR_NO_PRE and PAIR_OPEN are not all there. */
	int (*call)(struct output *output, struct pair_call *call,
		    struct text *text, struct scratch *scratch);
	int (*close)(struct output *output, struct text *text,
		     struct error *err);
	void (*free)(struct output *output);
};

extern const struct output_ops output_text, output_json, output_csv,
			       output_ctf, output_perfetto, output_html,
			       output_pairs, output_tree, output_line,
			       output_otlp, output_folded;
/* Of calls, instead of events. */
extern const struct output_ops output_call_text, output_json_calls,
			       output_csv_calls;

/* Also after an open() that failed, or without one. */
void output_free(struct output *output);

/* What render.h prints an event's pieces from. */
static inline struct render_input
output_render_input(const struct event *event, struct symbols *symbols)
{
	return (struct render_input){
		.format = &event->point->format,
		.record = event->record,
		.owner = { &event->trace->file.processes, event->record->pid,
			   symbols },
	};
}

/* Of the modules that were armed; of a pipe others may come. NULL as above. */
const char *output_module_find(const struct stream *stream);
/* A DESC, or the name of a function, without "(module) " of the only one */
const char *output_desc(const struct output *output, const char *desc);

/* Pieces of the event in scratch->pieces, result in scratch->result; none when
 * there is no format or no data. 0 or -ENOMEM. */
int output_decode(const struct event *event, struct scratch *scratch,
		  uint8_t *seen);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which rules print a record: the TFF entry whose data hash is the one that
 * was armed. Static records have no hash: they match by major and minor.
 */
#ifndef LIB_READ_MATCH_H
#define LIB_READ_MATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/formats/tff.h"
#include "lib/key_map.h"
#include "lib/read/format/decode.h"
#include "lib/read/format/field.h"
#include "lib/read/trace_file.h"
#include "lib/read/format/stack.h"

/*
 * A record of a whole call has data of an entry and of an exit. Outputs of calls
 * get it twice, as PRE and as POST, each with a point that has only its fields.
 */
enum match_half { MATCH_ALL, MATCH_ENTRY, MATCH_EXIT };

/* A tracepoint of the trace. */
struct match_point {
	uint64_t key;		/* session, major, minor, point */
	const struct trace_session *session;	/* NULL: static or missing */
	const struct ras_session_point *armed;	/* NULL as above */
	char *title;		/* DESC and line end, fit for a terminal; may
				 * be read TEXT_SLACK further */
	size_t title_length;
	bool formatted;		/* there is a TFF entry; the next five are set */
	const struct tff *tff;
	const struct tff_section *section;
	const struct tff_entry *entry;
	struct decode_format format;
	struct field_set fields;
	bool forced;		/* its hash is another one */
	uint32_t context;	/* RAS_CONTEXT_*: what its records have */
	enum match_half half;
	struct match_point *halves[2];	/* of whole calls; else NULL */
	/* written while other threads read what is above: apart from it */
	_Alignas(64) uint64_t present;	/* records met */
	uint64_t reached;	/* the least that was recorded: sequence
				 * numbers of its records, over the slices */
	uint64_t before;	/* of these, before the first ones here */
};

/* The key of a record's point. */
static inline uint64_t match_key(const struct ras_record *record)
{
	return (uint64_t)record->session << 48 |
	       (uint64_t)record->major << 32 |
	       (uint64_t)record->minor << 16 | record->point;
}

/* Why points have no entry. */
struct match_lack {
	bool missing;		/* their TFF isn't there */
	/* there is one, of another compilation; NULL: not so. Of the first: */
	const char *file;	/* its path */
	const char *tsf;	/* what it was made of */
	const char *tdf;	/* what was armed */
};

struct match {
	const struct trace_file *file;
	struct search *search;
	bool force;
	struct key_map points;		/* struct match_point, by its key */
	struct match_lack lack;
};

void match_open(struct match *match, const struct trace_file *file,
		struct search *search, bool force);
/* The point of a record, found or made; NULL: no memory. */
struct match_point *match_record(struct match *match,
				 const struct ras_record *record);
/* The point whose sequence numbers the record has, though its minor may be that of
 * another one (RAS_RECORD_NAMED); NULL: no memory. */
struct match_point *match_counting(struct match *match,
				   struct match_point *point,
				   const struct ras_record *record);
/* A session's point by its place there; NULL: no record of it was met. */
const struct match_point *match_armed(const struct match *match,
				      const struct trace_session *session,
				      uint32_t point);
/* Can a record of the sessions that are known, or a static one, have a field of
 * this name? 1, 0, or -ENOMEM. */
int match_field_known(struct match *match, const char *name, size_t length);
/* Points of the sessions are those of whole calls, by format files. */
bool match_has_whole(const struct match *match);
void match_close(struct match *match);

/* The name of the point's group, and of its type of this bit, as in the TFF;
 * "": it has none. */
const char *match_point_group(const struct match_point *point);
const char *match_point_type(const struct match_point *point,
			     unsigned int bit);

/*
 * A record on its way from the trace to the output. Events are made by
 * stream.h in the order of time, numbered, selected (filter/filter.h), put into
 * another order if that was asked for (filter/order.h), and given to an output
 * (output/output.h).
 */

struct event {
	const struct ras_record *record;	/* 8-byte aligned, checked length */
	const struct match_point *point;
	const struct trace *trace;	/* whose record it is */
	uint64_t number;	/* from 1, in the order of time, over all that
				 * the traces hold, selected or not */
	int64_t time;		/* wall clock: ns since 1970, UTC */
	int64_t before;		/* that of the event that the output got before
				 * this one; EVENT_FIRST: there was none */
	uint32_t cpu;
	bool damaged;		/* from a chunk whose checksum differs */
};

#define EVENT_FIRST	INT64_MIN

/* Data of the record, after its context (format/stack.h). */
struct event_data {
	const uint8_t *data;
	uint32_t length;
	uint32_t skip;		/* bytes of context in front of it */
	bool misfit;		/* the record is too short for its context */
};

static inline struct event_data event_data(const struct event *event)
{
	struct context context = context_of(event->record,
					    event->point->context);

	return (struct event_data){
		.data = (const uint8_t *)(event->record + 1) + context.bytes,
		.length = event->record->length - RAS_RECORD_HEADER -
			  context.bytes,
		.skip = context.bytes,
		.misfit = context.misfit,
	};
}

/* Of the thread's process, as far as the trace knows; in kernel code, or else, of
 * the thread, from the record's context. Not terminated when it has 16 bytes; NULL:
 * not known. */
const char *event_comm(const struct event *event);
/* Of the thread, from the record's context; else of its process. */
const char *event_thread_comm(const struct event *event);

#define EVENT_TRIGGER	0x0001
#define EVENT_MUTED	0x0002
#define EVENT_FAULT	0x0004
#define EVENT_CUT	0x0008
#define EVENT_PAGED_IN	0x0010
#define EVENT_STALE	0x0020
#define EVENT_TAIL_CALL	0x0040
#define EVENT_FORCED	0x0080
#define EVENT_MISFIT	0x0100
#define EVENT_DAMAGED	0x0200
#define EVENT_UNKNOWN	0x0400	/* no TFF entry: nothing but bytes */
#define EVENT_CHANGED	0x0800	/* later than a write to the traced file */
#define EVENT_FLAGS	12

/* One word each, for outputs that programs read ("paged_in"); by bit. */
extern const char *const event_flag_words[EVENT_FLAGS];

/* The traced file may have been another one. */
static inline bool event_is_changed(const struct event *event)
{
	const struct trace_session *session = event->point->session;

	return session && session->entry->changed &&
	       event->record->time >= session->entry->changed;
}

/* EVENT_* of the record; item_status: all items' flags, and misfit, as
 * decode_record() found them. */
unsigned int event_flags(const struct event *event, uint8_t item_status,
			 bool misfit);

#endif

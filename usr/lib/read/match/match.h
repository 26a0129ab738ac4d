/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which rules print a record: the TFF entry whose data hash is the one that
 * was armed. Static records have no hash: they match by major and minor.
 */
#ifndef LIB_READ_MATCH_H
#define LIB_READ_MATCH_H

#include "lib/formats/search.h"
#include "lib/key_map.h"
#include "lib/read/format/decode.h"
#include "lib/read/format/field.h"
#include "lib/read/trace_file.h"

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
void match_close(struct match *match);

/* The name of the point's group, and of its type of this bit, as in the TFF;
 * "": it has none. */
const char *match_point_group(const struct match_point *point);
const char *match_point_type(const struct match_point *point,
			     unsigned int bit);

#endif

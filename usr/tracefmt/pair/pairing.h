/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Matching PRE with POST: the post minor is the pre minor | 0x8000 of the same
 * major (manual, conventions), per thread, nested and recursive. A minor without
 * 0x8000 is a PRE when its post minor is armed in the same session, or, of static
 * records, has a TFF entry.
 *
 * A POST closes the innermost open PRE of its function in that thread; calls that
 * are open inside of it were left without a POST (longjmp, a lost record, a
 * tail call): they are closed as unmatched. Two sessions of one module see each
 * call twice, and their records don't nest: there each one closes its own only.
 * Traces of one buffer (a spool's cycle) go on with each other's calls.
 * Where records of the thread's time were lost the match may be wrong by one; it
 * is reported in the figures.
 *
 * Calls that may go on in another thread (TFF_MIGRATES: goroutines) aren't
 * paired; the records don't have what they belong to.
 *
 * Memory is bounded: with PAIR_THREADS threads or PAIR_OPEN open calls the thread
 * that was quiet the longest is given up, and its calls are unmatched.
 */
#ifndef TRACEFMT_PAIRING_H
#define TRACEFMT_PAIRING_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/read/read.h"

#define PAIR_POST	0x8000

enum pair_role {
	PAIR_PLAIN,		/* neither */
	PAIR_PRE,
	PAIR_POST_MATCHED,
	PAIR_POST_ALONE,	/* its PRE isn't there */
};

/* Is the point a PRE, a POST (PAIR_POST_ALONE)? By minor and session, see above;
 * looks through the session's points. */
enum pair_role pair_role_of(const struct match_point *point);
/* It would be paired, if its calls were sure to stay in a thread. */
bool pair_migrates(const struct match_point *point);

/* Name of the function: what the DESCs of PRE and POST have in common at their
 * begin, without "Pre-Invocation" and the like: "(OS) DosSleep". At most
 * PAIR_NAME_MAX bytes with the zero, whole characters, safe for a terminal. */
#define PAIR_NAME_MAX	128
const char *pair_name(const struct match_point *point, char *name);

static inline uint16_t pair_minor(const struct match_point *point)
{
	return point->key >> 16;
}

static inline uint16_t pair_major(const struct match_point *point)
{
	return point->key >> 32;
}

#define PAIR_THREADS	(64u << 10)
#define PAIR_OPEN	(256u << 10)

/* An open call. */
struct pair_call {
	const struct match_point *point;	/* of the PRE */
	const char *name;	/* of the function; as long as the pairing */
	const struct trace *trace;
	uint64_t number;	/* of its event */
	int64_t time;
	uint32_t pid, tid;
	uint32_t depth;		/* open calls of the thread around it */
	uint32_t index;		/* of the point, see pair_seen */
	bool beside;		/* it doesn't nest with others: its module has
				 * an earlier session at the same time */
};

struct pair_seen {
	enum pair_role role;
	uint32_t depth;		/* of the event: open calls around it; of a
				 * POST that of its PRE */
	uint32_t index;		/* of the event's point: 0, 1, ... as they are
				 * met first */
	const char *name;	/* of its function; NULL: PLAIN */
	struct pair_call call;	/* POST_MATCHED: its PRE */
	int64_t latency;	/* POST_MATCHED, ns */
	int64_t late;		/* ns that it is older than a PRE or POST_MATCHED
				 * before it in its thread (a late record, a
				 * damaged time); else 0 */
	/* calls without a POST, innermost first: of a POST_MATCHED those inside
	 * of it, of a PRE those that were given up for it, of any thread. They
	 * stay until the next event. */
	const struct pair_call *unmatched;
	size_t unmatched_count;
};

struct pairing;

/* NULL: no memory. */
struct pairing *pairing_open(void);
/* In the order of time. 0 or -ENOMEM. */
int pairing_see(struct pairing *pairing, const struct event *event,
		struct pair_seen *seen);
/* What is still open, by thread, innermost first: one call at each call of this;
 * NULL: no more. */
const struct pair_call *pairing_open_call(struct pairing *pairing);
void pairing_close(struct pairing *pairing);

#endif

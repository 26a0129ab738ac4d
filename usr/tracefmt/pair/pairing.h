/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Matching PRE with POST, per thread, nested and recursive. A POST closes the
 * innermost open PRE of its function in that thread; calls that are open inside
 * of it were left without a POST (longjmp, an exception). Two sessions of one
 * module see each call twice, and their records don't nest: there each one
 * closes its own only. Traces of one buffer (a spool's cycle) go on with each
 * other's calls.
 *
 * A call has a figure only if its POST can be that of no other call. There is
 * doubt
 *
 *	- when records are missing, or out of order, between the two;
 *	- when hits of the function aren't recorded (IF, dropped ones);
 *	- when the function calls itself: the inner call may have been left, and
 *	  the POST be that of an outer one. It is decided when a call around it
 *	  returns for sure: each PRE inside that one has its POST, or some haven't.
 *	  Until then the call is pending;
 *	- so, too, when a call of a function that calls itself may have begun
 *	  before the trace: records before it are missing, or a POST of the process
 *	  had no PRE. It and calls that were left are no longer reckoned with when
 *	  they would take a second and 10 times the longest call so far.
 *
 * Of a whole call (unfold.h) nothing is in doubt but its self time. What began
 * after it and ended before it in its thread is inside of it, but for pairs of its
 * own function (the same name in a session), which are about the same calls. One that comes late
 * has no self time, because calls inside of it were given out before; nor has one
 * that may go on in another thread (TFF_MIGRATES: goroutines), nor a caller.
 *
 * Those that are no whole calls aren't paired there; the records don't have what
 * they belong to.
 *
 * Memory is bounded: with PAIR_THREADS threads or PAIR_BYTES of calls the pending
 * ones of the thread are in doubt for good, then the thread that was quiet the
 * longest is given up, and its calls are without a POST.
 */
#ifndef TRACEFMT_PAIRING_H
#define TRACEFMT_PAIRING_H

#include "foresight.h"
#include "pair_point.h"

#define PAIR_THREADS	(64u << 10)
#define PAIR_BYTES	(64u << 20)

enum pair_doubt {
	PAIR_SURE,
	PAIR_PENDING,		/* a later record decides it */
	/* it has no latency, because it may have another POST: */
	PAIR_RECURSION,		/* that of a call around it */
	PAIR_LOST,		/* one that is missing, or not in order */
	PAIR_FILTERED,		/* one that wasn't recorded */
	/* it has no latency, because there is no POST, or no PRE: */
	PAIR_NO_POST,		/* a call around it has ended */
	PAIR_OPEN,		/* up to the end */
	PAIR_GIVEN_UP,		/* to bound memory */
	PAIR_NO_PRE,
	PAIR_DOUBTS,
};

/* One word each, for outputs that programs read; NULL: SURE, PENDING. */
extern const char *const pair_doubt_words[PAIR_DOUBTS];

/* A call of a function: what all outputs of calls are made of. */
struct pair_call {
	const char *name;	/* of the function; as long as the pairing */
	struct event entry, exit;	/* of a missing one `point` is NULL; see
					 * PAIRING_RECORDS */
	uint64_t number;	/* of the entry's event; NO_PRE: 0 */
	uint64_t order;		/* ascends with the beginnings */
	uint64_t parent;	/* number of the innermost call around it, if
				 * that has a POST; 0: none is known */
	enum pair_doubt doubt;
	bool self_doubt;	/* not all calls inside of it are SURE */
	int64_t latency;	/* ns; of what is not SURE a guess */
	int64_t self;		/* of this, without the calls inside */
	uint32_t pid, tid;
	uint32_t depth;		/* open calls of the thread around it */
	uint32_t index;		/* of the point, see pair_seen */
	uint32_t path;		/* PAIRING_PATHS: functions of the calls around
				 * it, and its own; 0: none */
	bool beside;		/* it doesn't nest with others: its module has
				 * an earlier session at the same time, or it
				 * is whole, and one ends inside of it that
				 * began before it, or may (a pair), or it came
				 * late; or it is in a whole call of the same
				 * function */
	uint64_t own;		/* the output's */
};

/* Of either record; NULL: there is none. */
static inline const struct event *pair_call_event(const struct pair_call *call)
{
	return call->entry.point ? &call->entry : &call->exit;
}

struct pair_seen {
	enum pair_role role;
	enum pair_doubt doubt;	/* of a POST */
	uint32_t depth;		/* of the event: open calls around it; of a
				 * POST that of its PRE */
	uint32_t index;		/* of the event's point: 0, 1, ... as they are
				 * met first */
	const char *name;	/* of its function; NULL: PLAIN */
	struct pair_call call;	/* of a POST, not ALONE: its PRE */
	struct pair_call *kept;	/* PRE, PENDING: the call, which stays */
	int64_t latency;	/* POST_MATCHED, UNSURE: ns */
	int64_t late;		/* ns that it is older than a PRE or POST
				 * before it in its thread (a late record, a
				 * damaged time); else 0 */
	/* Calls that have ended with it, or been decided: of a POST those inside
	 * of it that have no POST, innermost first, pending ones, and itself; of
	 * a PRE those that were given up for it, of any thread. They stay until
	 * the next event. */
	struct pair_call *const *ended;
	size_t ended_count;
};

/* The event's time; of a late one that of the newest of its thread, so that calls
 * nest. A whole call that is late is beside the others. */
static inline int64_t pair_time(const struct event *event,
				const struct pair_seen *seen)
{
	int64_t time;

	if (seen->call.beside && event->point->half)
		return event->time;
	return __builtin_add_overflow(event->time, seen->late, &time) ?
	       INT64_MAX : time;
}

/* What pairing_open() is asked for. */
#define PAIRING_ENTRIES	1	/* entries of calls keep their records */
#define PAIRING_EXITS	2	/* and exits */
#define PAIRING_PATHS	4	/* calls have a path */
#define PAIRING_PARTIAL	8	/* only some of each thread's records come */
#define PAIRING_CUT	16	/* what was before the first event is left out */

struct pairing;

/* foresight: NULL, or what is known of the first events when they come; it stays
 * the caller's. NULL: no memory. */
struct pairing *pairing_open(unsigned int wanted,
			     const struct foresight *foresight);
/* In the order of time. 0 or -ENOMEM. */
int pairing_see(struct pairing *pairing, const struct event *event,
		struct pair_seen *seen);
/* After the last event, what is still open or pending, by thread: one call at
 * each call of this; NULL: no more. */
struct pair_call *pairing_open_call(struct pairing *pairing);
/* How often hits of a PRE or POST were muted. */
uint64_t pairing_muted(const struct pairing *pairing);

#define PAIRING_PATH_DEPTH	256	/* of deeper calls the path is that of a
					 * call around them */

/* Of a path, from 1; `around`: 0 of an outermost one. */
struct pair_path {
	const char *name;
	uint32_t around, depth;
};

const struct pair_path *pairing_path(const struct pairing *pairing,
				     uint32_t path);
void pairing_close(struct pairing *pairing);

#endif

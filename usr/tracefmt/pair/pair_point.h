/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a tracepoint is to its function: the post minor is the pre minor | 0x8000
 * of the same major (manual, conventions). A minor without 0x8000 is a PRE when
 * its post minor is armed in the same session, or, of static records, has a TFF
 * entry. A whole call is both (unfold.h).
 */
#ifndef TRACEFMT_PAIR_POINT_H
#define TRACEFMT_PAIR_POINT_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/read/read.h"

#define PAIR_POST	0x8000

enum pair_role {
	PAIR_PLAIN,		/* neither */
	PAIR_PRE,
	PAIR_POST_MATCHED,
	PAIR_POST_ALONE,	/* its PRE isn't there */
	PAIR_POST_UNSURE,	/* it may be that of another call (pairing.h) */
};

/* Is the point a PRE, a POST (PAIR_POST_ALONE)? By minor and session, see above;
 * looks through the session's points. */
enum pair_role pair_role_of(const struct match_point *point);
/* It would be paired, if its calls were sure to stay in a thread. */
bool pair_migrates(const struct match_point *point);

/* Whole calls of it may go on in another thread. */
static inline bool whole_migrates(const struct match_point *point)
{
	return point->half && point->formatted &&
	       point->entry->flags & TFF_MIGRATES;
}

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

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A whole call is one record (rastrace/buffer.h), which is written at its end.
 * Outputs of calls get it as two events, its beginning and its end, each with half
 * of the point (match.h), in the order of time. So what comes is held back: calls
 * around it have begun before it, and their records come after it.
 *
 * Of files UNFOLD_BYTES of records are held, of a pipe those of the last
 * UNFOLD_WAIT, too. A call that began before an event that was given out comes
 * late, both events at its end.
 */
#ifndef TRACEFMT_UNFOLD_H
#define TRACEFMT_UNFOLD_H

#include "lib/read/read.h"

#define UNFOLD_BYTES	(128u << 20)
#define UNFOLD_WAIT	1000000000LL	/* ns */

struct unfold;

/* `give` gets the events; 0, or a negative errno, which ends it. NULL: no
 * memory. */
struct unfold *unfold_open(int (*give)(void *context, const struct event *event),
			   void *context, bool live);
/* There may be whole calls: all events are held back. */
void unfold_expect_all(struct unfold *unfold);
/* The event will be added, after others: they are held back from now on, if it
 * is a whole call. */
void unfold_expect(struct unfold *unfold, const struct event *event);
/* The next event, and then what must not be held any longer. 0, -ENOMEM, or what
 * `give` returned. */
int unfold_add(struct unfold *unfold, const struct event *event);
/* Of a pipe: it is `now`, and nothing else has come. */
int unfold_pass(struct unfold *unfold, int64_t now);
/* Nothing more will come. */
int unfold_end(struct unfold *unfold);
void unfold_close(struct unfold *unfold);

#endif

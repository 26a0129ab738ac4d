/* SPDX-License-Identifier: GPL-2.0 */
/* Times as text. Converting to local time is slow, and seconds last: the last
 * one is kept. A thread has its own. */
#ifndef TRACEFMT_CLOCK_H
#define TRACEFMT_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/read/read.h"

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

#endif

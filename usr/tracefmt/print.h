/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A record as text:
 *
 *	(OS) DosSleep Pre-Invocation
 *	Event [10]  Major [5/0x0005]  Minor [307/0x0133]  PID [38/0x0026]
 *	  TID [38/0x0026]  Length [18]  Time [18:07:32.052123456]
 *	Return EIP=0000C361  CS=DFD7
 *
 * (Event to Time on one line, with the process's name behind where it is known)
 * and an empty line. What --context asked for stands below the header line.
 * Where the day changes, the new date stands on a line of its own before the
 * record.
 */
#ifndef TRACEFMT_PRINT_H
#define TRACEFMT_PRINT_H

#include <time.h>
#include "match.h"
#include "merge.h"
#include "text.h"

struct print {
	struct text *text;
	const struct book *book;	/* who is who */
	int64_t wall_offset;
	bool utc, relative;	/* relative: to the first record printed */
	bool hex;		/* the data in hex below each record */
	bool verbose;		/* and what the format left over */
	uint64_t records;	/* this one included: its event number */
	uint64_t start;		/* time of the first record */
	uint64_t newest;	/* time of the newest one */
	uint64_t late;		/* records behind a newer one */
	int64_t second;		/* that clock is of */
	char clock[9];		/* HH:MM:SS; empty: none yet */
	int day;		/* year and day last printed; 0: none */
};

/* 0 or -ENOMEM. */
int print_record(struct print *print, const struct match_point *point,
		 const struct merge_head *head);

/* "18:07:32.052123456" at p as the options say; at most 32 bytes. */
char *print_time(struct print *print, uint64_t time, char *p);

/* Date and time of day, "2026-02-03 18:07:32"; at most 32 bytes. */
void print_date(const struct print *print, uint64_t time, char *text,
		size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The heap monitoring text: a heading, then a line per event.
 *
 *	Thread      Time of event       Address     Size    Type  Stack crawl
 *	2-22982     759537687555872     0xb2362718  del     TIt   TAr::~TAr()|f()
 *
 * Thread: process and thread, 0-0 of an old block; time: microseconds since
 * 1970, or `old`; size: bytes, or `del`; type: a class, `novtbl` or `notype`;
 * crawl: the callers, the innermost first. Lines of `***` report that the heap
 * is corrupt; from there on lines begin with `*`. heapmon reports in this form
 * that events are missing: "*** 12 events lost".
 */
#ifndef HEAPMON_MONITOR_LINE_H
#define HEAPMON_MONITOR_LINE_H

#include "heapmon/core/format.h"

#define MONITOR_LOSS	"events lost"

enum monitor_kind {
	MONITOR_EVENT,
	MONITOR_NOTHING,	/* the heading, or an empty line */
	MONITOR_LOST,		/* `lost` events, or UNKNOWN */
	MONITOR_BANNER,		/* `text` is what it says */
	MONITOR_BAD,
};

/* Text without a NUL at its end. */
struct monitor_span {
	const char *text;
	size_t length;
};

struct monitor_line {
	enum monitor_kind kind;
	uint32_t pid, tid;
	bool old, deleted;
	bool corrupt;		/* it begins with `*` */
	int64_t time;		/* ns */
	uint64_t address, size, lost;
	struct monitor_span type, crawl, text;
};

/* Understand a line, given without its end. */
void monitor_line_parse(const char *text, size_t length,
			struct monitor_line *line);

/* The names in a stack crawl, one after the other. */
struct monitor_crawl {
	const char *at, *end;
	bool plain;		/* parentheses don't match: bars separate */
};

bool monitor_crawl_next(struct monitor_crawl *crawl, struct monitor_span *name);

#endif
